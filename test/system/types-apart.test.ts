import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readAnswer } from '../referee/answer.js';
import type { HeadgateProcess } from '../support/headgate-process.js';
import { HOSTILE } from './support/attacked-handler.js';
import { ADMIN_KEY, type RefereedSystem, refereedSystem } from './support/refereed-system.js';
import { runningOf } from './support/running-jobs.js';

/** Whose jobs do what their payload says, and the referee hears nothing of them. */
const HANDLER = fileURLToPath(new URL('support/attacked-handler.ts', import.meta.url));
const RATE = 5;
const JOBS = 15;
const FLOOD = 1000;

let system: RefereedSystem;
let headgate: HeadgateProcess;

beforeEach(async () => {
  system = await refereedSystem(
    {
      types: {
        full: { handler: HANDLER, capacity: { concurrency: 2 }, timeout: '10m' },
        busy: { handler: HANDLER },
        slow: { handler: HANDLER, capacity: { rate: '0.01/s' } },
        calm: { handler: HANDLER },
      },
      tiers: { only: { rate: `${RATE}/s`, burst: 1 } },
      defaultTier: 'only',
      tenants: { [HOSTILE]: { rate: 'unlimited', depth: 10 * FLOOD } },
    },
    {
      separateClocks: true,
      types: [{ type: 'calm', slots: 4 }],
      buckets: [],
      otherwise: { ratePerSecond: RATE, burst: 1, depth: 1000 },
    },
    { arrivalMs: 250, lateMs: 250 },
  );
  // One process, one connection, one event loop for all of them.
  headgate = await system.folder.start('start', ['--concurrency', 'full=2,busy=2,slow=2,calm=4']);
}, 120_000);
afterEach(async () => system?.end());

async function flood(type: string, data: object): Promise<void> {
  const jobs = Array.from({ length: FLOOD }, () => ({ type, data }));
  const answer = await fetch(`${headgate.url}/v1/jobs/batch`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ tenant: HOSTILE, jobs }),
  });
  expect(await answer.text()).toContain(`"admitted":${FLOOD},`);
}

// Where the machine itself stands still for a moment, a start moves with it: such a run is made again.
it('a type starts its jobs when it said, whatever other types of the same workers wait for', { retry: 2 }, async () => {
  await flood('full', { workMs: 86_400_000 });
  await flood('busy', { busyMs: 86_400_000 });
  await flood('slow', {});
  await expect.poll(() => runningOf(system, headgate.url, 'full')).toBe(2);

  const witness = system.witness(headgate.url);
  const answers = await Promise.all(
    Array.from({ length: JOBS }, () => witness.enqueue({ type: 'calm', tenant: 'acme', cost: 1 })),
  );
  expect(answers.map(({ body }) => readAnswer(body).basis)).toEqual(Array(JOBS).fill('rate'));
  await witness.followToEnds();
  const { judgements } = await system.referee.expectNoViolations();
  const promises = judgements.find(({ what }) => what === 'promised starts');
  expect(promises?.judged).toBeGreaterThanOrEqual(JOBS);
  expect(promises?.excused).toBe(0);
  expect(await runningOf(system, headgate.url, 'full')).toBe(2);
});
