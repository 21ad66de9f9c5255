import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HeadgateProcess } from '../support/headgate-process.js';
import { HOSTILE } from './support/attacked-handler.js';
import { ADMIN_KEY, idOf, type RefereedSystem, refereedSystem } from './support/refereed-system.js';

/** The referee hears nothing of the flood, whose jobs end at once. */
const HANDLER = fileURLToPath(new URL('support/attacked-handler.ts', import.meta.url));

const RATE = 2;
const GAP_MS = 1000 / RATE;
/** Half an interval, at most 250 ms. */
const SLACK_MS = 250;
const JOBS = 8;
const FLOOD = { jobs: 10_000, batch: 1000, ratePerSecond: 20 };
const SLOTS = 10;

let system: RefereedSystem;
let apis: HeadgateProcess[];

beforeEach(async () => {
  const flood = { rate: `${FLOOD.ratePerSecond}/s`, depth: FLOOD.jobs };
  system = await refereedSystem(
    {
      types: { a: { handler: HANDLER } },
      tiers: { only: { rate: `${RATE}/s`, burst: 1 } },
      defaultTier: 'only',
      tenants: { [HOSTILE]: flood },
    },
    {
      separateClocks: true,
      types: [{ type: 'a', slots: SLOTS }],
      buckets: [],
      otherwise: { ratePerSecond: RATE, burst: 1, depth: 1000 },
    },
    { arrivalMs: SLACK_MS, lateMs: SLACK_MS },
  );
  apis = await Promise.all([system.folder.start('serve'), system.folder.start('serve')]);
  await system.folder.start('work', ['--types', 'a', '--concurrency', `a=${SLOTS}`]);
});
afterEach(async () => system?.end());

/** When each job of a tenant started after its first one, in milliseconds. */
async function spacing(url: string, tenant: string): Promise<number[]> {
  const witness = system.witness(url);
  const answers = await Promise.all(
    Array.from({ length: JOBS }, () => witness.enqueue({ type: 'a', tenant, cost: 1, data: { workMs: 20 } })),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array(JOBS).fill(202));
  await witness.followToEnds();
  const ids = new Set(answers.map(idOf));
  const starts = (await system.referee.trace()).flatMap((event) =>
    event.kind === 'start' && ids.has(event.job) ? [event.at] : [],
  );
  return starts.map((at) => at - (starts[0] ?? Number.NaN));
}

// Where the machine itself stands still for a moment, a start moves with it: such a run is made again, from the beginning.
describe(`the starts of a tenant beside ${FLOOD.jobs} jobs of another, while slots are free`, { retry: 2 }, () => {
  it('are where they are without them, to within the slack, and were promised so', async () => {
    const [api, other] = apis;
    if (!api || !other) throw new Error('two APIs were started');
    await spacing(api.url, 'warm-up');
    const alone = await spacing(api.url, 'alone');

    const batch = JSON.stringify({
      tenant: HOSTILE,
      jobs: Array.from({ length: FLOOD.batch }, () => ({ type: 'a', data: {} })),
    });
    const headers = { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' };
    const flood = async () => {
      for (let posted = 0; posted < FLOOD.jobs; posted += FLOOD.batch) {
        const answer = await fetch(`${other.url}/v1/jobs/batch`, { method: 'POST', headers, body: batch });
        expect(answer.status).toBe(200);
        expect(await answer.text()).toContain(`"admitted":${FLOOD.batch},`);
      }
    };
    const [flooded] = await Promise.all([spacing(api.url, 'flooded'), flood()]);

    for (const [k, ms] of flooded.entries()) {
      expect(Math.abs(ms - (alone[k] ?? Number.NaN)), `start ${k}: ${flooded.map(Math.round)}`).toBeLessThan(SLACK_MS);
      expect(Math.abs(ms - k * GAP_MS), `start ${k}: ${flooded.map(Math.round)}`).toBeLessThan(SLACK_MS);
    }
    await system.referee.expectNoViolations();
  });
});
