import { asFields, asInteger, asList } from '../redis/reply.js';
import { describeScript } from '../redis/script.js';
import { readLibrary } from '../redis/script-source.js';

/** What administrators change at run time: `lua/override.lua` is `scripts.override`. A library of its own, on keys of its own. */
export const library = readLibrary([{ file: 'override' }]);

export const scripts = {
  override: describeScript(library, 'override', ['subject', 'channel', 'replace', 'fields...'], (reply) => {
    const [revision, changed, fields] = asList(reply);
    return { revision: asInteger(revision), changed: asInteger(changed) === 1, values: asFields(fields) };
  }),
};
