import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { checkBooks } from '../chaos/book-check.js';
import { Ledger } from '../chaos/ledger.js';
import { Load } from '../chaos/load.js';
import { seeded } from '../chaos/random.js';
import { recovered } from '../chaos/run-chaos.js';
import { CONTRACT, configOf, SLOTS, TOLERANCES } from '../chaos/terms.js';
import type { HeadgateProcess } from '../support/headgate-process.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { startSentinel, type TestSentinel } from '../support/sentinel.js';
import { type RefereedSystem, refereedSystem } from './support/refereed-system.js';

const MASTER = 'main';
const LIMITED = 240_000;
/** What the failover did to locks shows only later. */
const AFTERMATH_MS = 12_000;
/** Starts under load before the master is killed, and after another has taken its place. */
const ENOUGH = 30;

const servers: TestRedis[] = [];
const sentinels: TestSentinel[] = [];
const apis: HeadgateProcess[] = [];
let system: RefereedSystem;

beforeAll(async () => {
  const master = await startRedis({ port: true, appendonly: true });
  servers.push(master);
  const replicaOf = ['--replicaof', '127.0.0.1', String(master.port)];
  for (const _ of [1, 2]) servers.push(await startRedis({ port: true, appendonly: true, args: replicaOf }));
  const links = master.client();
  await vi.waitFor(
    async () => expect((await links.info('replication')).match(/state=online/g)).toHaveLength(2),
    60_000,
  );
  links.disconnect();
  for (const _ of [1, 2, 3])
    sentinels.push(await startSentinel({ name: MASTER, port: Number(master.port), quorum: 2, downAfterMs: 2000 }));
  await vi.waitFor(async () => expect(await knowEachOther()).toBe(true), { timeout: 60_000, interval: 200 });

  const nodes = sentinels.map(({ port }) => `127.0.0.1:${port}`);
  const config = { ...configOf(''), redis: { sentinel: { name: MASTER, nodes }, waitForReplicas: 1 } };
  system = await refereedSystem(config, CONTRACT, TOLERANCES);
  for (const _ of [1, 2]) apis.push(await system.folder.start('serve'));
  const slots = Object.entries(SLOTS)
    .map(([type, count]) => `${type}=${count}`)
    .join();
  for (const _ of [1, 2]) await system.folder.start('work', ['--concurrency', slots]);
}, LIMITED);

afterAll(async () => {
  await system?.end();
  for (const sentinel of sentinels) await sentinel.stop();
  for (const server of servers) await server.stop();
});

/** A Sentinel that knows neither the others nor the replicas fails nothing over. */
async function knowEachOther(): Promise<boolean> {
  const facts = await Promise.all(
    sentinels.map(async ({ port }) => {
      const sentinel = new Redis(port, '127.0.0.1', { maxRetriesPerRequest: 1 });
      const info = await sentinel.info('sentinel').finally(() => sentinel.disconnect());
      return /status=ok,.*slaves=2,sentinels=3/.test(info);
    }),
  );
  return facts.every(Boolean);
}

/** The server that writes are taken by now. */
async function promoted(): Promise<TestRedis | undefined> {
  for (const server of servers.slice(1)) {
    const [role] = await server.client().role();
    if (String(role) === 'master') return server;
  }
  return undefined;
}

it('a master that is killed under load costs no accepted job, no slot and no promise', {
  timeout: LIMITED,
}, async () => {
  const { referee } = system;
  const urls = apis.map(({ url }) => url);
  const witnesses = urls.map((url) => system.witness(url));
  const ledger = new Ledger();
  const load = new Load({ witnesses, ledger, random: seeded(8), now: () => referee.now() });
  const starts = (since: number) =>
    referee.until(
      (trace) => trace.filter((event) => event.kind === 'start' && event.at > since).length >= ENOUGH,
      90_000,
    );
  load.start();
  await starts(0);

  const from = referee.now();
  await servers[0]?.kill();
  await expect.poll(promoted, { timeout: 60_000 }).toBeDefined();
  const at = referee.now();
  expect(await recovered({ refereed: system, urls }, at)).toBe(true);
  referee.recordOutage({ from, to: referee.now() + AFTERMATH_MS, note: 'a Sentinel failover' });
  await starts(referee.now());

  await load.stop();
  for (const witness of witnesses) await witness.followToEnds(90_000);
  const master = await promoted();
  if (master === undefined) throw new Error('there is no master');
  const client = master.client();
  // A job whose request had no answer is followed by nobody, and may still be on its way.
  const atRest = async () => {
    const { running, waiting } = await checkBooks(client, ledger.accepted);
    return [...running, ...waiting];
  };
  await expect.poll(atRest, { timeout: 60_000 }).toEqual([]);
  expect(await checkBooks(client, ledger.accepted)).toEqual({
    lost: [],
    twoEnds: [],
    running: [],
    waiting: [],
    envelope: [],
  });
  const errors = apis.flatMap(({ lines }) => lines.filter((line) => line.includes('"level":50')));
  expect(ledger.faults, errors.join('\n')).toEqual([]);
  expect(ledger.doubled).toEqual([]);
  expect(ledger.accepted.size).toBeGreaterThan(ENOUGH);
  await referee.expectNoViolations();
});
