import { asFields, asInteger, asList, asNumber, asText, asTexts, asWord } from '../redis/reply.js';
import { describeScript } from '../redis/script.js';
import { readLibrary } from '../redis/script-source.js';
import { parseAdmitAnswer } from './admit-answer.js';
import { orNull, parseDispatched, parseTurn } from './dispatched.js';
import { STORED_FORMAT } from './stored-data.js';
import { parseUnseen } from './unseen-end.js';
import { waitRangeOf } from './wait-range.js';

/**
 * Every script of the shaped side under its verb: `lua/settle.lua` is `scripts.settle`, and so in tests and metrics.
 * The names of the arguments are checked against the script's header when this module loads.
 */

export type { AdmitAnswer, AdmitAnswered, AdmitVerdict } from './admit-answer.js';
export type { Dispatched, JobFields, LackingPermit, Turn } from './dispatched.js';

/** What the script said of one job that should wait again; the wait in µs. */
export type RetryVerdict =
  | { readonly kind: 'retried' | 'not_found' | 'not_failed' }
  | { readonly kind: 'bucket_full'; readonly limit: 'depth' | 'maxBytes'; readonly retryUs: number | null };

/** What became of chunks of output: `lost` when the job is no longer this worker's, `full` when the run has emitted too much. */
export type Emitted = 'stored' | 'lost' | 'full';

const VERBS = [
  'admit',
  'dispatch',
  'settle',
  'renew',
  'progress',
  'charge',
  'emit',
  'recover',
  'cancel',
  'retry',
  'sweep',
  'retime',
  'pause',
  'pauses',
  'purge',
  'erase',
  'forsake',
  'configure',
  'read',
  'page',
  'inspect',
  'quote',
  'stats',
  'turn',
  'hold',
];

/** All verbs below, as Redis loads them. */
export const library = readLibrary(
  VERBS.map((file) => ({ file })),
  { form: STORED_FORMAT },
);

export const scripts = {
  admit: describeScript(library, 'admit', ['now', 'keep_age', 'keep_count', 'beside', 'requests...'], (reply) =>
    asList(reply).map(parseAdmitAnswer),
  ),
  dispatch: describeScript(
    library,
    'dispatch',
    ['now', 'token', 'lock', 'limit', 'keep_age', 'keep_count', 'floor', 'permit'],
    parseDispatched,
  ),
  settle: describeScript(
    library,
    'settle',
    ['now', 'attempts', 'keep_age', 'keep_count', 'lock', 'limit', 'floor', 'runs...'],
    (reply) =>
      asList(reply).map((run) => {
        const [verdict, permit, ...next] = asList(run);
        return {
          ...{ verdict: asWord(verdict, ['settled', 'lost']), next: parseDispatched(next) },
          ...(permit !== '' && { permit: asText(permit) }),
        };
      }),
  ),
  renew: describeScript(library, 'renew', ['lock', 'tokens...'], (reply) => {
    const [lost, asked] = asList(reply);
    return { lostTokens: asTexts(lost), cancelRequestedIds: asTexts(asked) };
  }),
  progress: describeScript(library, 'progress', ['token', 'progress'], (reply) => asInteger(reply) === 1),
  emit: describeScript(library, 'emit', ['token', 'first', 'chunks...'], parseEmitted),
  charge: describeScript(library, 'charge', ['now', 'token', 'cost'], (reply) => {
    const [held, permit] = asList(reply);
    return { isHeld: asInteger(held) === 1, permit: asText(permit) };
  }),
  recover: describeScript(
    library,
    'recover',
    ['now', 'cursor', 'count', 'max_stalled', 'keep_age', 'keep_count', 'floor'],
    (reply) => {
      const [cursor, returned, ended] = asList(reply);
      return { cursor: asText(cursor), returnedIds: asTexts(returned), endedIds: asTexts(ended) };
    },
  ),
  cancel: describeScript(library, 'cancel', ['now', 'tenant', 'id', 'keep_age', 'keep_count'], (reply) =>
    asWord(reply, ['cancelled', 'cancel_requested', 'already_ended', 'not_found']),
  ),
  retry: describeScript(library, 'retry', ['now', 'tenant', 'profile', 'ids...'], (reply) =>
    asList(reply).map(parseRetried),
  ),
  sweep: describeScript(library, 'sweep', ['now', 'tenants', 'jobs', 'keep_age', 'keep_count', 'floor'], (reply) => {
    const [tenants, jobs, forgotten, idle, unseen] = asList(reply);
    return {
      ...{ tenants: asInteger(tenants), jobs: asInteger(jobs), forgotten: asInteger(forgotten) },
      /** The greatest finish tag, where nothing is ready and nothing runs. */
      idleAt: idle === '' ? null : asNumber(idle),
      unseen: parseUnseen(asTexts(unseen)),
    };
  }),
  retime: describeScript(library, 'retime', ['now', 'tenant', 'profile'], (reply) => asInteger(reply) === 1),
  pause: describeScript(library, 'pause', ['now', 'tenant', 'stopped'], asInteger),
  pauses: describeScript(library, 'pauses', ['now', 'tenants...'], (reply) =>
    asList(reply).map((paused) => asInteger(paused) === 1),
  ),
  purge: describeScript(library, 'purge', ['now', 'tenant', 'limit', 'keep_age', 'keep_count'], (reply) => {
    const [cancelled, left] = asList(reply);
    return { cancelled: asInteger(cancelled), left: asInteger(left) };
  }),
  erase: describeScript(library, 'erase', ['now', 'tenant', 'limit'], (reply) => {
    const [erased, remain, running, cancelled] = asList(reply);
    const left = { remain: asInteger(remain), running: asInteger(running) };
    return { erased: asInteger(erased), ...left, cancelled: asInteger(cancelled) };
  }),
  forsake: describeScript(library, 'forsake', ['now', 'limit', 'keep_age', 'keep_count', 'reason'], (reply) => {
    const [failed, left] = asList(reply);
    return { failed: asInteger(failed), left: asInteger(left) };
  }),
  configure: describeScript(
    library,
    'configure',
    ['now', 'format', 'T', 'burst', 'conc', 'slack', 'shards', 'permits'],
    (reply) => {
      if (reply === 'ok') return { kind: 'ok' as const };
      const [kind, stored] = asList(reply);
      return { kind: asWord(kind, ['format', 'shards']), stored: asText(stored) };
    },
  ),
  read: describeScript(library, 'read', ['now', 'tenant', 'id', 'scan', 'result', 'beside'], (reply) => {
    const [state, position, waitUs, basis, approximate, earliest, latest, unixMs, fields] = asList(reply);
    if (state === 'none') return undefined;
    return {
      state: asWord(state, ['waiting', 'delayed', 'active', 'completed', 'failed']),
      position: asInteger(position),
      waitUs: asInteger(waitUs),
      basis: asWord(basis, ['rate', 'capacity', 'delay', '']),
      approximate: asInteger(approximate) === 1,
      between: waitRangeOf(earliest, latest),
      unixMs: asNumber(unixMs),
      fields: asFields(fields),
    };
  }),
  page: describeScript(library, 'page', ['tenant', 'state', 'after_score', 'after_id', 'limit', 'scan'], (reply) => {
    const [more, score, id, ids] = asList(reply);
    return { more: asInteger(more) === 1, afterScore: asText(score), afterId: asText(id), ids: asTexts(ids) };
  }),
  quote: describeScript(
    library,
    'quote',
    ['now', 'tenant', 'profile', 'priority', 'cost', 'count', 'beside'],
    (reply) => {
      const [kind, unixMs, depth, free, first, last, meanRunUs] = asList(reply);
      if (kind === 'cost_exceeds_max') return { kind: 'cost_exceeds_max' as const, max: asNumber(unixMs) };
      return {
        kind: 'quoted' as const,
        unixMs: asNumber(unixMs),
        depth: asInteger(depth),
        freePlaces: asInteger(free),
        first: parseStart(first),
        last: parseStart(last),
        meanRunUs: asInteger(meanRunUs),
      };
    },
  ),
  inspect: describeScript(library, 'inspect', ['now', 'tenant'], (reply) => {
    const [level, waiting, delayed, running, cost, bytes, nextUs, served, deserved] = asList(reply);
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
    };
  }),
  stats: describeScript(library, 'stats', ['now'], (reply) => {
    const [due, ready, running, served, meanRunUs, scarceUs] = asList(reply);
    return {
      dueBuckets: asInteger(due),
      readyBuckets: asInteger(ready),
      running: asInteger(running),
      servedPerSecond: asNumber(served),
      meanRunUs: asInteger(meanRunUs),
      scarceUs: orNull(asInteger(scarceUs)),
    };
  }),
  turn: describeScript(library, 'turn', ['now', 'floor'], (reply) => parseTurn(asList(reply))),
  hold: describeScript(library, 'hold', ['now', 'hold'], (reply) => asWord(reply, ['ok'])),
};

function parseStart(raw: unknown) {
  const [waitUs, basis, earliest, latest] = asList(raw);
  return {
    waitUs: asInteger(waitUs),
    basis: asWord(basis, ['rate', 'capacity']),
    between: waitRangeOf(earliest, latest),
  };
}

function parseRetried(raw: unknown): RetryVerdict {
  const [kind, limit, retryUs] = asList(raw);
  const verdict = asWord(kind, ['retried', 'not_found', 'not_failed', 'bucket_full']);
  if (verdict !== 'bucket_full') return { kind: verdict };
  return { kind: verdict, limit: asWord(limit, ['depth', 'maxBytes']), retryUs: orNull(asInteger(retryUs)) };
}

function parseEmitted(reply: unknown): Emitted {
  const stored = asInteger(reply);
  return stored === 1 ? 'stored' : stored === 0 ? 'lost' : 'full';
}
