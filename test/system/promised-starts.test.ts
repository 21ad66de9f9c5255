import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readAnswer } from '../referee/answer.js';
import type { HeadgateProcess } from '../support/headgate-process.js';
import { type RefereedSystem, refereedSystem } from './support/refereed-system.js';

const JOBS = 20;
const RATE = 5;
const GAP_MS = 1000 / RATE;

let system: RefereedSystem;
let headgate: HeadgateProcess;

beforeEach(async () => {
  const terms = { ratePerSecond: RATE, burst: 1, depth: 1000 };
  system = await refereedSystem(
    { types: { a: {} }, tiers: { only: { rate: `${RATE}/s`, burst: 1 } }, defaultTier: 'only' },
    { types: [{ type: 'a', slots: 10 }], buckets: [], otherwise: terms },
  );
  headgate = await system.folder.start('start', ['--concurrency', 'a=10']);
});
afterEach(async () => system?.end());

// Where the machine itself stands still for a moment, a start moves with it: such a run is made again, from the beginning.
describe(`of ${JOBS} jobs posted at once to an idle bucket of ${RATE}/s`, { retry: 2 }, () => {
  it(`the k-th starts in order, k·${GAP_MS} − 25 to k·${GAP_MS} + 100 ms after the first, when its 202 said`, async () => {
    const { referee } = system;
    const witness = system.witness(headgate.url);
    await witness.enqueue({ type: 'a', tenant: 'warm-up', cost: 1 });
    await witness.followToEnds();

    const answers = await Promise.all(
      Array.from({ length: JOBS }, () => witness.enqueue({ type: 'a', tenant: 'acme', cost: 1 })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(JOBS).fill(202));
    expect(answers.map(({ body }) => readAnswer(body).basis)).toEqual(Array(JOBS).fill('rate'));
    await witness.followToEnds();

    const promisedMs = new Map(answers.map(({ body }) => [readAnswer(body).id, readAnswer(body).releaseAtMs]));
    const starts = (await referee.trace()).flatMap((event) =>
      event.kind === 'start' && event.tenant === 'acme'
        ? [{ at: event.at, releaseAtMs: promisedMs.get(event.job) }]
        : [],
    );
    const [first] = starts;
    const afterFirst = starts.map(({ at }) => at - (first?.at ?? Number.NaN));
    const promisedAfterFirst = starts.map(({ releaseAtMs }) => (releaseAtMs ?? Number.NaN) - (first?.releaseAtMs ?? 0));
    expect(starts).toHaveLength(JOBS);
    for (const [k, ms] of afterFirst.entries()) {
      expect(ms, `start ${k} of ${afterFirst.map(Math.round)}`).toBeGreaterThanOrEqual(k * GAP_MS - 25);
      expect(ms, `start ${k} of ${afterFirst.map(Math.round)}`).toBeLessThanOrEqual(k * GAP_MS + 100);
      // Rounded up to the millisecond, each on its own.
      expect(Math.abs((promisedAfterFirst[k] ?? Number.NaN) - k * GAP_MS), `promise ${k}`).toBeLessThanOrEqual(1);
    }

    const verdict = await referee.expectNoViolations();
    expect(verdict.tolerances).toMatchObject({ earlyMs: 25, lateMs: 50 });
    const promises = verdict.judgements.find(({ what }) => what === 'promised starts');
    expect(promises).toMatchObject({ judged: JOBS + 1, excused: 0 });
  });
});
