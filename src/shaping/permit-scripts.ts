import type { PermitAnswer } from '../model/permit-book.js';
import { asInteger, asList, asNumber, asTexts, asWord } from '../redis/reply.js';
import { describeScript } from '../redis/script.js';
import { readLibrary } from '../redis/script-source.js';
import { orNull } from './dispatched.js';
import { STORED_FORMAT } from './stored-data.js';

/** What keeps the capacity of a type over several shards, see lua/lib/permits.lua. */
export const library = readLibrary(
  ['permit', 'allot', 'adopt', 'holders', 'taken'].map((file) => ({ file })),
  { form: STORED_FORMAT },
);

export type Holders = ReturnType<(typeof permitScripts)['holders']['parse']>;

export const permitScripts = {
  permit: describeScript(library, 'permit', ['now', 'id', 'shard', 'until', 'cost', 'changes...'], parsePermit),
  allot: describeScript(library, 'allot', ['now', 'T', 'burst', 'conc', 'slack', 'limited'], (reply) => {
    const [kind, epoch] = asList(reply);
    return asWord(kind, ['ok', 'count']) === 'ok' ? null : { uncountedEpoch: asInteger(epoch) };
  }),
  adopt: describeScript(library, 'adopt', ['now', 'epoch', 'runs...'], (reply) => asWord(reply, ['ok'])),
  holders: describeScript(library, 'holders', ['now', 'ids...'], (reply) => {
    const [at, idle, without] = asList(reply);
    return { atUs: asNumber(at), idleIds: asTexts(idle), tokensWithout: asTexts(without) };
  }),
  taken: describeScript(library, 'taken', ['now'], (reply) => {
    const [slots, waitUs, level] = asList(reply);
    return { slots: asInteger(slots), waitUs: asInteger(waitUs), level: asNumber(level) };
  }),
};

function parsePermit(reply: unknown): PermitAnswer {
  const [word, value] = asList(reply);
  const kind = asWord(word, ['none', 'granted', 'wait', 'count']);
  if (kind === 'wait') return { kind, waitUs: orNull(asInteger(value)) };
  if (kind === 'count') return { kind, epoch: asInteger(value) };
  return { kind };
}
