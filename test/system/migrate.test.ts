import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aclRules, SOMETIMES } from '../../src/redis/rights.js';
import { isEnd } from '../referee/job-ends.js';
import { textField } from '../referee/json-field.js';
import type { Witness } from '../referee/witness.js';
import { HeadgateFolder, type HeadgateProcess } from '../support/headgate-process.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { librariesOf, recordedForm, restore } from '../support/stored-form/recorded.js';
import { type RecordedForm, type RecordedJob, TYPES, WORLD } from '../support/stored-form/world.js';
import { ADMIN_KEY, type RefereedSystem, refereedSystem } from './support/refereed-system.js';

const OLD = recordedForm('form-3');
/** Of another port than the default one, so that nothing else is met. */
const SERVE = ['--listen', '127.0.0.1:0'];

let server: TestRedis;
let redis: Redis;
beforeAll(async () => {
  server = await startRedis({ port: true });
  redis = server.client();
});
afterAll(() => server?.stop());

async function put(form: RecordedForm, on = redis): Promise<void> {
  await on.flushall();
  await on.function('FLUSH');
  await restore(on, form);
  for (const text of librariesOf(form)) await on.function('LOAD', text);
}

async function stored(): Promise<Record<string, string>> {
  const keys = (await redis.keys('*')).toSorted();
  return Object.fromEntries(
    await Promise.all(keys.map(async (key) => [key, String((await redis.dumpBuffer(key))?.toString('base64'))])),
  );
}

const formats = () => Promise.all(['page', 'gate'].map((type) => redis.hget(`{hg:${type}:0}:type`, 'format')));

/** The world in which forms are recorded, over the server of this file. */
const world = (): object => ({
  ...WORLD,
  redis: server.socketPath,
  shards: 1,
  lockDuration: '5s',
  stalledInterval: '300ms',
});

describe('headgate over data of an older form', () => {
  let folder: HeadgateFolder;
  beforeAll(async () => {
    folder = await HeadgateFolder.create({
      ...world(),
      admin: { keys: [ADMIN_KEY] },
      types: Object.fromEntries(Object.entries(TYPES).map(([name, type]) => [name, { ...type, handler: 'echo' }])),
    });
  });
  afterAll(() => folder?.remove());
  beforeEach(() => put(OLD));

  it.each(['serve', 'work'])('does not %s, and says which command brings it forward', async (verb) => {
    const before = await stored();
    const { code, stderr } = await folder.run(verb, verb === 'serve' ? SERVE : []);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/has format 3; this version reads format 4: .*run `headgate migrate`/),
    ]);
    expect(await stored()).toEqual(before);
  });

  it('is said by the doctor, who changes nothing', async () => {
    const before = await stored();
    const { code, stdout } = await folder.run('doctor', ['--json']);
    expect([code, JSON.parse(stdout).findings]).toEqual([
      1,
      expect.arrayContaining([
        expect.objectContaining({
          about: 'data',
          level: 'fault',
          says: expect.stringContaining('has format 3; this version reads format 4'),
          mend: expect.stringContaining('headgate migrate'),
        }),
      ]),
    ]);
    expect(await stored()).toEqual(before);
  });

  it('says what there is to do, and does nothing of it, when it is only asked to look', async () => {
    const before = await stored();
    const { code, stdout } = await folder.run('migrate', ['--dry-run', '--json']);
    const types = [
      { type: 'gate', format: '3', shards: 1 },
      { type: 'page', format: '3', shards: 1 },
    ];
    expect([code, JSON.parse(stdout)]).toEqual([0, { outcome: 'to do', types, inTheWay: [] }]);
    expect(await stored()).toEqual(before);
  });

  it('brings it forward once, and says so', async () => {
    const first = await folder.run('migrate', ['--json']);
    expect([first.code, JSON.parse(first.stdout)]).toEqual([
      0,
      expect.objectContaining({ outcome: 'done', buckets: 11, runs: 6 }),
    ]);
    const before = await stored();
    expect(await folder.run('migrate')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^nothing to do/) });
    expect(await stored()).toEqual(before);
    expect((await folder.run('doctor')).stdout).not.toMatch(/^fault +data/m);
  });

  it('leaves it alone while a process serves, names that one, and does it when it has ended', async () => {
    const other = await HeadgateFolder.create({
      redis: server.socketPath,
      shards: 1,
      types: { other: { handler: 'echo' } },
    });
    try {
      const serving = await other.start('serve');
      const before = await stored();
      const refused = await folder.run('migrate');
      expect([refused.code, refused.stderr]).toEqual([
        1,
        expect.stringMatching(/all have to end before: headgate:api \(.*nothing was changed/),
      ]);
      expect(await folder.run('migrate', ['--dry-run'])).toMatchObject({
        code: 1,
        stdout: expect.stringContaining('has to end before: headgate:api'),
      });
      expect(Object.entries(await stored()).filter(([key]) => key in before)).toEqual(Object.entries(before));
      await serving.stop();
      expect(await folder.run('migrate')).toMatchObject({ code: 0 });
    } finally {
      await other.remove();
    }
  });

  it('refuses data that is newer than itself, whatever else is there', async () => {
    await redis.hset('{hg:gate:0}:type', 'format', '5');
    const before = await stored();
    const { code, stderr } = await folder.run('migrate');
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('the data of type "gate" in Redis has format 5; this version reads format 4'),
    ]);
    expect(await stored()).toEqual(before);
  });

  it('needs the rights that docs/redis.md names, and says which one is missing', async () => {
    const needed = SOMETIMES.flatMap(({ command, when }) => (when === '`headgate migrate`' ? [command] : []));
    expect(needed).toHaveLength(4);
    const limited = await HeadgateFolder.create({
      redis: { url: server.url, username: 'limited', password: 'env:LIMITED' },
      shards: 1,
      types: { page: { handler: 'echo' } },
    });
    try {
      const args = ['migrate', '--config', limited.configFile, '--data', limited.dataDir];
      const before = await stored();
      for (const missing of needed) {
        const rules = aclRules(
          '',
          needed.filter((each) => each !== missing),
        );
        await redis.acl('SETUSER', 'limited', 'reset', 'on', '>hunter2', ...rules);
        const { code, stderr } = await limited.runBare(args, { LIMITED: 'hunter2' });
        expect([code, stderr], missing).toEqual([1, expect.stringContaining(`may not run ${missing}`)]);
        expect(await stored()).toEqual(before);
      }
      await redis.acl('SETUSER', 'limited', 'reset', 'on', '>hunter2', ...aclRules('', needed));
      expect(await limited.runBare(args, { LIMITED: 'hunter2' })).toMatchObject({ code: 0 });
    } finally {
      await limited.remove();
    }
  });

  it('finishes what a migration has left that was killed in the middle', async () => {
    const [, bucket] = OLD.keys['{hg:page:0}:bucket:quiet'] ?? [0, ''];
    const count = 30_000;
    const batch = redis.pipeline();
    for (let i = 0; i < count; i += 1) batch.restore(`{hg:page:0}:bucket:many${i}`, 0, Buffer.from(bucket, 'base64'));
    await batch.exec();
    const sizes = async () => {
      const pipeline = redis.pipeline();
      for (let i = 0; i < count; i += 1) pipeline.strlen(`{hg:page:0}:bucket:many${i}`);
      const replies = (await pipeline.exec()) ?? [];
      return replies.filter(([, size]) => size === 281).length;
    };
    const killed = spawn(
      process.execPath,
      [folder.program, 'migrate', '--config', folder.configFile, '--data', folder.dataDir],
      { stdio: 'ignore' },
    );
    const isUnderWay = async () =>
      (await redis.strlen('{hg:page:0}:bucket:many0')) + (await redis.strlen(`{hg:page:0}:bucket:many${count - 1}`)) >
      2 * 249;
    while (!(await isUnderWay()));
    killed.kill('SIGKILL');
    await once(killed, 'close');
    const brought = await sizes();
    expect(brought).toBeGreaterThan(0);
    expect(brought).toBeLessThan(count);
    expect(await formats()).toContain('3>4');
    expect(await folder.run('work')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('run `headgate migrate`'),
    });

    const again = await folder.run('migrate', ['--json']);
    const last = JSON.parse(again.stdout.trim().split('\n').at(-1) ?? '');
    expect(last).toMatchObject({
      outcome: 'done',
      types: expect.arrayContaining([expect.objectContaining({ type: 'page', format: '3>4' })]),
    });
    expect(last.buckets).toBeLessThan(count);
    expect([await sizes(), ...(await formats())]).toEqual([count, '4', '4']);
  });
});

describe('headgate start over a Redis of its own with data of an older form', () => {
  let folder: HeadgateFolder;
  beforeAll(async () => {
    folder = await HeadgateFolder.create({
      ...WORLD,
      admin: { keys: [ADMIN_KEY] },
      shards: 1,
      types: Object.fromEntries(Object.entries(TYPES).map(([name, type]) => [name, { ...type, handler: 'echo' }])),
    });
    const first = await folder.start('serve');
    await first.kill();
    const own = new Redis(join(folder.dataDir, 'redis/redis.sock'));
    await put(OLD, own);
    own.disconnect();
  });
  afterAll(() => folder?.remove());

  it('brings it forward by itself, and serves what waited', async () => {
    const started = await folder.start('start', ['--types', 'page,gate']);
    expect(started.said('data of an older version was brought forward')).toMatchObject([{ buckets: 11, runs: 6 }]);
    await started.until(() => started.said('job completed').length >= 4, 'jobs of before were run');
  });
});

/** What is read of data that a build has left: by the build that made it, brought forward, or as it stands. */
describe.each([
  ['of form 3, brought forward', OLD],
  ['of the first build of form 4, as it stands', recordedForm('form-4')],
])('data %s', (_, form) => {
  const isOpen = ({ state }: RecordedJob): boolean => ['waiting', 'active', 'delayed'].includes(state);
  const far = form.jobs.filter(({ delayMs, state }) => state === 'delayed' && delayMs > 1e9);
  const open = form.jobs.filter((job) => isOpen(job) && !far.includes(job));
  let system: RefereedSystem;
  let api: HeadgateProcess;
  let witness: Witness;

  beforeAll(async () => {
    await put(form);
    system = await refereedSystem(
      { ...world(), types: TYPES, tenants: WORLD.tenants },
      {
        separateClocks: true,
        types: [
          { type: 'page', slots: 8 },
          { type: 'gate', slots: 2 },
        ],
        buckets: [
          { type: 'page', tenant: 'paced', ratePerSecond: 2, depth: 1000 },
          { type: 'page', tenant: 'costly', ratePerSecond: 10, burst: 3, weight: 2, depth: 1000 },
          { type: 'page', tenant: 'crowd', ratePerSecond: null, concurrency: 2, weight: 4, depth: 1000 },
        ],
        otherwise: { ratePerSecond: null, depth: 1000 },
      },
      { arrivalMs: 1500, lateMs: 500 },
    );
    expect(await system.folder.run('migrate')).toMatchObject({ code: 0 });
    api = await system.folder.start('serve');
    witness = system.witness(api.url);
  });
  afterAll(() => system?.end());

  const get = async (path: string, key = ADMIN_KEY): Promise<unknown> => {
    const response = await fetch(`${api.url}${path}`, { headers: { authorization: `Bearer ${key}` } });
    expect(response.status, path).toBe(200);
    return response.json();
  };
  const post = (path: string, body: object = {}, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${api.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });

  it('has every job as it was', async () => {
    for (const { id, tenant, state } of form.jobs) {
      expect(await get(`/v1/jobs/${id}?tenant=${tenant}`), `${tenant} ${id}`).toMatchObject({ id, tenant, state });
    }
  });

  it('has the keys, the overrides, the pauses and the idempotency keys that were there', async () => {
    await get('/v1/limits', form.tenantKey);
    expect(await get('/v1/tenants/paced')).toMatchObject({
      types: { page: { profile: { rate: { value: '2/s', from: 'override' } } } },
    });
    expect(await get('/v1/tenants/paused')).toMatchObject({
      types: { page: { paused: ['hand'] }, gate: { paused: ['hand'] } },
    });
    const known = form.jobs.find(({ idempotencyKey }) => idempotencyKey === 'once');
    const again = await post(
      '/v1/jobs',
      { type: 'page', tenant: 'paced', data: { workMs: 20 } },
      { 'idempotency-key': 'once' },
    );
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([202, 'true']);
    expect(await again.json()).toMatchObject({ id: known?.id });
  });

  it('is served by a worker of this version: every job once, in its order and at its rate, and nothing is lost', async () => {
    await post('/v1/tenants/paused/resume');
    admit(open);
    await system.folder.start('work', ['--concurrency', 'page=8,gate=2']);
    for (const { id, tenant } of open) {
      await expect
        .poll(async () => isEnd(textField((await witness.look(tenant, id)).body, 'state') ?? null), {
          message: `${tenant} ${id} has ended`,
        })
        .toBe(true);
    }
    const starts = (await system.referee.trace()).flatMap((event) => (event.kind === 'start' ? [event] : []));
    expect(starts.map(({ job }) => job).toSorted()).toEqual(open.map(({ id }) => id).toSorted());
    // What ran when its worker died goes before what waited.
    const crowd = starts.filter(({ tenant }) => tenant === 'crowd').map(({ job }) => job);
    const ran = open.filter(({ tenant, state }) => tenant === 'crowd' && state === 'active').map(({ id }) => id);
    expect(crowd.slice(0, 2).toSorted()).toEqual(ran.toSorted());
    await system.referee.expectNoViolations();
  });

  it('keeps what is far away, and takes new jobs', async () => {
    expect(far).toHaveLength(1);
    for (const { id, tenant } of far)
      expect(await get(`/v1/jobs/${id}?tenant=${tenant}`)).toMatchObject({ state: 'delayed' });
    await witness.enqueue({ type: 'page', tenant: 'later', cost: 1, data: { workMs: 1 } });
    await witness.followToEnds();
    await system.referee.expectNoViolations();
  });

  /** Tells the referee of jobs as if they had been handed in now, with no promise: what waited in its order, and what ran in any. */
  function admit(jobs: readonly RecordedJob[]): void {
    const at = system.referee.now();
    const places = new Map<string, number>();
    for (const { id, type, tenant, priority, cost, state } of jobs) {
      const index = places.get(tenant) ?? 0;
      if (state === 'waiting') places.set(tenant, index + 1);
      system.referee.recordAdmission({
        ...{ type, tenant, priority, delayMs: 0, cost, status: 202, body: { id } },
        ...{ sentAt: at, answeredAt: at + 1 },
        ...(state === 'waiting' && { request: `before, of ${tenant}`, index }),
      });
    }
  }
});
