import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Shards } from '../../src/redis/shards.js';
import { isEnd } from '../referee/job-ends.js';
import type { Witness } from '../referee/witness.js';
import { HeadgateFolder, type HeadgateProcess } from '../support/headgate-process.js';
import { ADMIN_KEY, idOf, type RefereedSystem, refereedSystem } from './support/refereed-system.js';
import { runningOf } from './support/running-jobs.js';

const shards = new Shards(3);
const SLOTS = 4;
const JOBS = 60;
const WORK_MS = 50;
const HEAVY = 2;

/** So many tenants in each shard: the fewer, the more each of them would get of shards that took turns. */
const TENANTS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].filter((tenant) => shards.of(tenant) !== 0).slice(0, 4);
TENANTS.push(['i', 'j', 'k', 'l', 'm'].find((tenant) => shards.of(tenant) === 0) ?? '');
const [FAVOURED = ''] = TENANTS;

let system: RefereedSystem;
let api: HeadgateProcess;
let other: HeadgateProcess;
let workers: HeadgateProcess[];
let witness: Witness;

beforeAll(async () => {
  system = await refereedSystem(
    {
      shards: shards.count,
      lockDuration: '500ms',
      stalledInterval: '100ms',
      types: { a: {} },
      tiers: { only: { rate: 'unlimited', depth: JOBS, concurrency: 'unlimited' }, paced: { rate: '20/s' } },
      defaultTier: 'only',
      tenants: { [FAVOURED]: { weight: HEAVY }, paced: { tier: 'paced' } },
    },
    {
      separateClocks: true,
      types: [{ type: 'a', slots: SLOTS, spread: true }],
      buckets: [
        { type: 'a', tenant: FAVOURED, ratePerSecond: null, depth: JOBS, weight: HEAVY },
        { type: 'a', tenant: 'paced', ratePerSecond: 20 },
      ],
      otherwise: { ratePerSecond: null, depth: JOBS },
    },
    { arrivalMs: 500, lateMs: 500 },
  );
  [api, other] = await Promise.all([system.folder.start('serve'), system.folder.start('serve')]);
  workers = await Promise.all([1, 2].map(() => system.folder.start('work', ['--types', 'a', '--concurrency', 'a=2'])));
  witness = system.witness(api.url);
});
afterAll(async () => system?.end());

const jobs = (count: number) =>
  Array.from({ length: count }, () => ({ type: 'a', cost: 1, data: { workMs: WORK_MS } }));

describe('a type that is spread over three shards', () => {
  it('has the jobs of each tenant in its shard, as their ids say', async () => {
    for (const tenant of TENANTS) {
      const answer = await witness.enqueue({ type: 'a', tenant, cost: 1 });
      expect(idOf(answer)).toMatch(new RegExp(`\\.a\\.${shards.of(tenant)}$`));
    }
    expect(new Set(TENANTS.map((tenant) => shards.of(tenant))).size).toBe(3);
    await witness.followToEnds();
  });

  it('serves them all as one queue, also over the death of a worker, and loses nothing', async () => {
    const [victim] = workers;
    await Promise.all(TENANTS.map((tenant) => witness.enqueueBatch(tenant, jobs(JOBS))));
    await system.referee.until((trace) => trace.filter(({ kind }) => kind === 'start').length >= 40);
    await victim?.kill();
    workers.push(await system.folder.start('work', ['--types', 'a', '--concurrency', 'a=2']));
    await witness.followToEnds(60_000);

    const trace = await system.referee.trace();
    const ends = trace.flatMap((event) => (event.kind === 'sight' && isEnd(event.state) ? [event.state] : []));
    expect(new Set(ends)).toEqual(new Set(['completed']));
    expect(await runningOf(system, api.url, 'a')).toBe(0);
    const verdict = await system.referee.expectNoViolations();
    expect(verdict.judgements.find(({ guarantee }) => guarantee === 'G3')?.judged).toBeGreaterThan(5);
  });

  it('keeps a rate, and is told as a whole by any API', async () => {
    await witness.enqueueBatch('paced', jobs(10));
    const seen = await system.get(other.url, '/v1/stats');
    expect(JSON.stringify(seen)).toContain('"type":"a"');
    await witness.followToEnds();
    await system.referee.expectNoViolations();
  });
});

describe('a process that says another number of shards', () => {
  it.each(['serve', 'work'] as const)('is refused by name when it starts, as `%s`', async (verb) => {
    const { redisPid, dataDir } = system.folder;
    expect(redisPid).toBeDefined();
    const folder = await HeadgateFolder.create({ shards: 2, admin: { keys: [ADMIN_KEY] }, types: { a: {} } });
    try {
      const { code, stderr } = await folder.runBare([verb, '--config', folder.configFile, '--data', dataDir]);
      expect(stderr).toMatch(
        /the data of type "(a|headgate\.webhook)" in Redis is spread over 3 shards, and the configuration says shards: 2; the number is fixed once there is data/,
      );
      expect(code).toBe(2);
    } finally {
      await folder.remove();
    }
  });
});
