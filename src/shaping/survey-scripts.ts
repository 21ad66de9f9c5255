import { asFields, asInteger, asList, asNumber } from '../redis/reply.js';
import { describeScript } from '../redis/script.js';
import { readLibrary } from '../redis/script-source.js';
import { orNull } from './dispatched.js';
import { STORED_FORMAT } from './stored-data.js';

/** What looks at many buckets, and what counts for those who look. */
export const library = readLibrary(
  ['survey', 'tally', 'tallies'].map((file) => ({ file })),
  { form: STORED_FORMAT },
);

export const scripts = {
  survey: describeScript(library, 'survey', ['now', 'tenants...'], (reply) => asList(reply).map(parseState)),
  tally: describeScript(library, 'tally', ['now', 'keep', 'most', 'counts...'], asInteger),
  tallies: describeScript(library, 'tallies', ['now', 'slots'], (reply) => {
    const [beganAtMs, slotMs, ...slots] = asList(reply);
    const counts = slots.map((slot) => {
      return new Map([...asFields(slot)].map(([field, count]) => [field, asNumber(count)]));
    });
    return { beganAtMs: asNumber(beganAtMs), slotMs: asInteger(slotMs), slots: counts };
  }),
};

function parseState(raw: unknown) {
  const [level, waiting, delayed, running, cost, bytes, nextUs, served, deserved, paused, held, late, longest] =
    asList(raw);
  return {
    level: asNumber(level),
    waiting: asInteger(waiting),
    delayed: asInteger(delayed),
    running: asInteger(running),
    waitingCost: asNumber(cost),
    waitingBytes: asInteger(bytes),
    nextStartUs: orNull(asInteger(nextUs)),
    servedPerSecond: asNumber(served),
    deservedPerSecond: asNumber(deserved),
    paused: asInteger(paused) === 1,
    heldUs: asInteger(held),
    lateUs: asInteger(late),
    longestMs: orNull(asInteger(longest)),
  };
}
