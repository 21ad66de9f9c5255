import { afterAll, beforeAll, expect, it } from 'vitest';
import { scriptKeys } from '../../src/redis/keys.js';
import { Shards } from '../../src/redis/shards.js';
import { field, textField } from '../referee/json-field.js';
import type { Witness } from '../referee/witness.js';
import type { HeadgateProcess } from '../support/headgate-process.js';
import { startCluster, type TestCluster, withClient } from '../support/redis-cluster.js';
import type { TestRedis } from '../support/redis-server.js';
import { ADMIN_KEY, idOf, type RefereedSystem, refereedSystem } from './support/refereed-system.js';

const LIMITED = 240_000;
const TYPE = 'a';
/** Long enough to be accepted and for a master to be killed before, on a busy machine. */
const START_BY_MS = 15_000;
const shards = new Shards(8);

let cluster: TestCluster;
let system: RefereedSystem;
let api: HeadgateProcess;
let witness: Witness;

beforeAll(async () => {
  cluster = await startCluster(3);
  for (const node of cluster.nodes) {
    await withClient(node, (redis) => redis.config('SET', 'cluster-require-full-coverage', 'no'));
  }
  system = await refereedSystem(
    {
      redis: { cluster: cluster.addresses.map(({ host, port }) => `${host}:${port}`) },
      shards: shards.count,
      types: { [TYPE]: {} },
      // What waits does not start.
      tiers: { only: { rate: 0, depth: 100 } },
      defaultTier: 'only',
    },
    {
      separateClocks: true,
      types: [{ type: TYPE, slots: 2, spread: true }],
      buckets: [],
      otherwise: { ratePerSecond: 0, depth: 100 },
    },
    { arrivalMs: 8000, earlyMs: 500, lateMs: 2000 },
  );
  api = await system.folder.start('serve');
  await system.folder.start('work', ['--concurrency', `${TYPE}=2`]);
  witness = system.witness(api.url);
}, LIMITED);
afterAll(async () => {
  await system?.end();
  await cluster?.stop();
});

/** A tenant of each master that has one of the first few names, with its master. */
async function tenantsByMaster(): Promise<{ readonly tenant: string; readonly master: TestRedis }[]> {
  const found = new Map<TestRedis, string>();
  for (const tenant of Array.from({ length: 20 }, (_, i) => `t${i}`)) {
    const [key] = scriptKeys(shards.tagOf(TYPE, tenant));
    for (const master of cluster.nodes) {
      const has = await withClient(master, async (redis) => (await redis.exists(key).catch(() => 0)) === 1);
      if (has) found.set(master, found.get(master) ?? tenant);
    }
  }
  return [...found].map(([master, tenant]) => ({ master, tenant }));
}

/** Lets these tenants start what they like. */
async function free(tenants: readonly string[]): Promise<void> {
  const { referee } = system;
  const headers = { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ rate: 'unlimited' });
  for (const tenant of tenants) {
    const sentAt = referee.now();
    const answer = await fetch(`${api.url}/v1/tenants/${tenant}`, { method: 'PATCH', headers, body });
    expect(answer.status).toBe(200);
    await answer.arrayBuffer();
    referee.recordChange({ type: TYPE, tenant, terms: { ratePerSecond: null }, sentAt, answeredAt: referee.now() });
  }
}

it('a job whose startBy comes while its master is away has expired when it is back, and has never run; others expire meanwhile', {
  timeout: LIMITED,
}, async () => {
  const { referee } = system;
  const [dead, lively] = await tenantsByMaster();
  if (!dead || !lively) throw new Error('all shards are on one master');
  const tenants = [dead.tenant, lively.tenant];
  const startBy = new Date(Date.now() + START_BY_MS).toISOString();
  const ids = await Promise.all(
    tenants.map(async (tenant) => {
      const answers = await Promise.all([1, 2, 3].map(() => witness.enqueue({ type: TYPE, tenant, cost: 1, startBy })));
      expect(answers.map(({ status }) => status)).toEqual([202, 202, 202]);
      return answers.map(idOf);
    }),
  );
  const [ofDead = [], ofLively = []] = ids;
  const states = (tenant: string, jobs: readonly string[]) =>
    Promise.all(jobs.map(async (id) => textField((await witness.look(tenant, id)).body, 'state')));

  const from = referee.now();
  await dead.master.kill();
  expect(Date.now()).toBeLessThan(Date.parse(startBy));
  await expect
    .poll(() => states(lively.tenant, ofLively), { timeout: 60_000 })
    .toEqual(['expired', 'expired', 'expired']);
  const statuses = await Promise.all(ofDead.map(async (id) => (await witness.look(dead.tenant, id)).status));
  expect(statuses).toEqual([503, 503, 503]);

  const node = cluster.nodes.find((each) => each === dead.master);
  if (!node) throw new Error('the dead master is none of the cluster');
  await cluster.revive(node);
  await expect
    .poll(async () => (await witness.look(dead.tenant, ofDead[0] ?? '')).status, { timeout: 60_000 })
    .toBe(200);
  referee.recordOutage({ from, to: referee.now() + 12_000, note: 'a master was away' });
  await expect.poll(() => states(dead.tenant, ofDead), { timeout: 60_000 }).toEqual(['expired', 'expired', 'expired']);

  // And the type goes on, there as elsewhere.
  await free(tenants);
  for (const tenant of tenants) expect((await witness.enqueue({ type: TYPE, tenant, cost: 1 })).status).toBe(202);
  await witness.followToEnds(60_000);
  const trace = await referee.trace();
  const ran = new Set(trace.flatMap((event) => (event.kind === 'start' ? [event.job] : [])));
  expect(ids.flat().filter((id) => ran.has(id))).toEqual([]);
  expect(field((await witness.look(dead.tenant, ofDead[0] ?? '')).body, 'state')).toBe('expired');
  await referee.expectNoViolations();
});
