import { afterAll, beforeAll, expect, it } from 'vitest';
import { closeConnection, openConnection, type RedisLink, untilReady } from '../../src/redis/connection.js';
import { HeadgateFolder } from '../support/headgate-process.js';
import { startCluster, type TestCluster, withClient } from '../support/redis-cluster.js';
import { librariesOf, recordedForm, restore } from '../support/stored-form/recorded.js';
import { TYPES, WORLD } from '../support/stored-form/world.js';
import { ADMIN_KEY } from './support/refereed-system.js';

const OLD = recordedForm('form-3');
const OPEN = OLD.jobs.filter(
  ({ tenant, state, delayMs }) =>
    tenant !== 'paused' && (state === 'waiting' || state === 'active' || (state === 'delayed' && delayMs < 1e9)),
);

let cluster: TestCluster;
let redis: RedisLink;
let folder: HeadgateFolder;

beforeAll(async () => {
  cluster = await startCluster(3);
  const nodes = cluster.addresses.map(({ host, port }) => `${host}:${port}`);
  redis = openConnection({ cluster: cluster.addresses }, { name: 'books', deadlineMs: 20_000 });
  await untilReady(redis);
  await restore(redis, OLD);
  for (const node of cluster.nodes) {
    for (const text of librariesOf(OLD)) await withClient(node, (master) => master.function('LOAD', text));
  }
  folder = await HeadgateFolder.create({
    ...WORLD,
    redis: { cluster: nodes },
    shards: 1,
    lockDuration: '5s',
    stalledInterval: '300ms',
    admin: { keys: [ADMIN_KEY] },
    types: Object.fromEntries(Object.entries(TYPES).map(([name, type]) => [name, { ...type, handler: 'echo' }])),
  });
});
afterAll(async () => {
  await folder?.remove();
  if (redis) await closeConnection(redis);
  await cluster?.stop();
});

const formats = () => Promise.all(['page', 'gate'].map((type) => redis.hget(`{hg:${type}:0}:type`, 'format')));

/** Of each master: how many types it keeps, and how many libraries. */
const masters = () =>
  Promise.all(
    cluster.nodes.map((node) =>
      withClient(node, async (master) => ({
        types: (await master.keys('{hg:*}:type')).length,
        libraries: (await master.function('LIST')) as unknown[],
      })),
    ),
  );

it('data of an older form on several masters is refused, brought forward once, and served', async () => {
  const before = await formats();
  expect(OPEN.length).toBeGreaterThan(5);
  expect((await masters()).filter(({ types }) => types > 0).length).toBeGreaterThan(1);
  expect(await folder.run('work')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('run `headgate migrate`'),
  });
  expect(await formats()).toEqual(before);

  const first = await folder.run('migrate', ['--json']);
  expect([first.code, JSON.parse(first.stdout.trim().split('\n').at(-1) ?? '')]).toEqual([
    0,
    expect.objectContaining({ outcome: 'done', buckets: 11, runs: 6 }),
  ]);
  expect(await formats()).toEqual(['4', '4']);
  expect(await folder.run('migrate')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^nothing to do/) });

  await folder.start('work', ['--types', 'page,gate']);
  const api = await folder.start('serve', ['--listen', '127.0.0.1:0']);
  for (const { id, tenant } of OPEN) {
    await expect
      .poll(
        async () => {
          const response = await fetch(`${api.url}/v1/jobs/${id}?tenant=${tenant}`, {
            headers: { authorization: `Bearer ${ADMIN_KEY}` },
          });
          return ((await response.json()) as { state: unknown }).state;
        },
        { message: `${tenant} ${id}` },
      )
      .toBe('completed');
  }
});
