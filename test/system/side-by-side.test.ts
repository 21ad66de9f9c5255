import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Witness } from '../referee/witness.js';
import type { HeadgateProcess } from '../support/headgate-process.js';
import { type OtherVersion, otherVersion } from './support/other-version.js';
import { idOf, type RefereedSystem, refereedSystem } from './support/refereed-system.js';
import { runningOf } from './support/running-jobs.js';

const TENANTS = ['acme', 'globex', 'initech'];
const RATED = { rate: 5, jobs: 20 };

let system: RefereedSystem;
let other: OtherVersion;
let redis: Redis;
interface Version {
  readonly api: HeadgateProcess;
  readonly worker: HeadgateProcess;
}
let before: Version;
let after: Version;
let witnesses: readonly Witness[];

/** An API and a worker of the version that the folder has as its program. */
async function startVersion(): Promise<Version> {
  const api = system.folder.start('serve');
  const worker = system.folder.start('work', ['--types', 'a', '--concurrency', 'a=2']);
  return { api: await api, worker: await worker };
}

beforeAll(async () => {
  other = await otherVersion();
  system = await refereedSystem(
    {
      lockDuration: '5s',
      stalledInterval: '500ms',
      types: { a: {}, b: {} },
      tiers: { only: { rate: 'unlimited' } },
      tenants: { rated: { rate: `${RATED.rate}/s` } },
      defaultTier: 'only',
    },
    {
      separateClocks: true,
      types: [{ type: 'a', slots: 4 }],
      buckets: [{ type: 'a', tenant: 'rated', ratePerSecond: RATED.rate, depth: 1000 }],
      otherwise: { ratePerSecond: null, depth: 1000 },
    },
    { arrivalMs: 1500, lateMs: 500 },
  );
  const ours = system.folder.program;
  system.folder.program = other.program;
  before = await startVersion();
  system.folder.program = ours;
  after = await startVersion();
  redis = new Redis(join(system.folder.dataDir, 'redis/redis.sock'));
});
beforeEach(() => {
  witnesses = [before.api, after.api].map(({ url }) => system.witness(url));
});
afterAll(async () => {
  redis?.disconnect();
  await system?.end();
  await other?.remove();
});

/** Jobs of a tenant, posted at the API of this witness. */
async function post(witness: Witness | undefined, tenant: string, count: number, workMs = 100): Promise<string[]> {
  const jobs = Array.from({ length: count }, () => ({ type: 'a', cost: 1, data: { workMs } }));
  return ((await witness?.enqueueBatch(tenant, jobs)) ?? []).map(idOf);
}

/** How many runs of each of these jobs were seen. */
async function runsOf(ids: readonly string[]): Promise<number[]> {
  const starts = (await system.referee.trace()).flatMap((event) => (event.kind === 'start' ? [event.job] : []));
  return ids.map((id) => starts.filter((start) => start === id).length);
}

async function libraries(): Promise<string[]> {
  const listed = await redis.function('LIST', 'LIBRARYNAME', 'headgate_*');
  return listed.map((library) => String(Array.isArray(library) ? library[1] : library)).toSorted();
}

const done = ({ worker }: Version) => worker.said('job completed').length;

describe('processes of two versions over the same stored form', () => {
  it('serve the same queues at the same time, each by its own scripts', async () => {
    const posted = TENANTS.flatMap((tenant) => witnesses.map((witness) => post(witness, tenant, 10)));
    const rated = post(witnesses[0], 'rated', RATED.jobs);
    const ids = (await Promise.all([...posted, rated])).flat();
    await Promise.all(witnesses.map((witness) => witness.followToEnds()));
    expect(await runsOf(ids)).toEqual(Array(ids.length).fill(1));
    expect(Math.min(done(before), done(after))).toBeGreaterThan(0);
    const names = await libraries();
    expect(names.length).toBeGreaterThan(1);
  });

  it('lose nothing and run nothing twice while the old ones leave', async () => {
    const [old, fresh] = witnesses;
    const ids = (await Promise.all([post(old, 'acme', 12, 300), post(fresh, 'globex', 12, 300)])).flat();
    const doneBefore = done(before);
    await before.worker.until(() => done(before) > doneBefore, 'it had its share');
    expect(await before.worker.stop()).toEqual({ code: 0, signal: null });
    // What the old API has admitted is followed by it as long as it is there.
    await old?.followToEnds();
    expect(await before.api.stop()).toEqual({ code: 0, signal: null });
    ids.push(...(await post(fresh, 'initech', 6)));
    await fresh?.followToEnds();
    expect(await runsOf(ids)).toEqual(Array(ids.length).fill(1));
  });

  it('go on when the scripts of all versions are deleted: those that run load theirs again', async () => {
    const names = await libraries();
    for (const name of names) await redis.function('DELETE', name);
    const [, fresh] = witnesses;
    const ids = await post(fresh, 'acme', 4);
    await fresh?.followToEnds();
    expect(await runsOf(ids)).toEqual(Array(4).fill(1));
    const left = await libraries();
    expect(left.length).toBeGreaterThan(0);
    expect(left.length).toBeLessThan(names.length);
  });

  it('leave a system at rest, in which the referee saw nothing that breaks a guarantee', async () => {
    expect(await runningOf(system, after.api.url, 'a')).toBe(0);
    await system.referee.expectNoViolations();
  });
});

describe('data of a form that a version does not know', () => {
  it.each(['work', 'serve'])('is refused by headgate %s, which says why and writes nothing', async (verb) => {
    await redis.hset('{hg:b:0}:type', 'format', '999');
    const stored = await redis.hgetall('{hg:b:0}:type');
    const refused = await system.folder.run(verb, verb === 'serve' ? ['--listen', '127.0.0.1:0'] : []);
    expect(refused.stderr).toMatch(
      /the data of type .{1,2}b.{1,2} in Redis has format 999; this version reads format \d+/,
    );
    expect(refused.code).toBe(2);
    expect(await redis.hgetall('{hg:b:0}:type')).toEqual(stored);
  });
});
