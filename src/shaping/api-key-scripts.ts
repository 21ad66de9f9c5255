import { asInteger, asList, asText, asWord } from '../redis/reply.js';
import { describeScript } from '../redis/script.js';
import { readLibrary } from '../redis/script-source.js';

/** What is done with API keys at run time. A library of its own, on keys of its own. */
export const library = readLibrary(['add_key', 'revoke_key', 'use_key'].map((file) => ({ file })));

export const scripts = {
  addKey: describeScript(library, 'add_key', ['tenant', 'id', 'hash', 'prefix', 'most', 'channel'], (reply) => {
    const [verdict, createdAtMs] = asList(reply);
    return asWord(verdict, ['added', 'full']) === 'full' ? undefined : { createdAtMs: asInteger(createdAtMs) };
  }),
  revokeKey: describeScript(library, 'revoke_key', ['tenant', 'id', 'channel'], asText),
  useKey: describeScript(library, 'use_key', ['hash'], (reply) => asInteger(reply) === 1),
};
