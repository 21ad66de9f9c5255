import { describe, expect, test } from 'vitest';
import { startRedis } from '../support/redis-server.js';
import { liveApp } from './support/live-app.js';
import { LIVE_YAML, liveTests } from './support/live-tests.js';

const { api, another, source, post, read } = liveTests();
const at = (path: string) => `/v1/${path}`;

describe('who may', () => {
  const ROUTES = [
    ...['tenants/acme', 'tiers/pro', 'types/ocr'].flatMap((path) =>
      (['GET', 'PUT', 'PATCH', 'DELETE'] as const).map((method) => [method, path] as const),
    ),
    ...['tenants/acme', 'types/ocr'].flatMap((path) =>
      ['pause', 'resume', 'purge'].map((verb) => ['POST', `${path}/${verb}`] as const),
    ),
  ];
  test.each(ROUTES)('%s %s: an admin, and nobody else, not for himself either', async (method, path) => {
    const body = method === 'PUT' || method === 'PATCH' ? {} : undefined;
    expect(await api.ask(method, at(path), body, 'acme')).toMatchObject({ status: 403, body: { code: 'admin_only' } });
    const gateway = await api.ask(method, at(path), body, 'gateway');
    expect(gateway.status).toBe(401);
    expect((await api.ask(method, at(path), body)).status).toBe(200);
  });
});

describe('what already waits follows a change at once', () => {
  test('of its tenant: the promise that a read gives is the new one, and position and order stay', async () => {
    const work = source('ocr');
    await work.configure();
    // Where a head is ready for longer than 50 ms, promises go by capacity: at this rate it is not, however slow the machine.
    await api.ask('PATCH', at('tenants/acme'), { types: { ocr: { rate: '0.1/s' } } });
    const jobs = await post('acme', 5);
    await work.dispatch(work.newToken());
    expect(await read(jobs[4]?.id)).toMatchObject({ position: 4, basis: 'rate' });
    const changed = await api.ask('PATCH', at('tenants/acme'), { types: { ocr: { rate: '0.025/s' } } });
    expect(changed).toMatchObject({ status: 200, body: { retimed: 1 } });
    const last = await read(jobs[4]?.id);
    expect(last).toMatchObject({ position: 4, basis: 'rate' });
    expect(Number(last.waitMs)).toBeGreaterThan(120_000);
    expect(Number(last.waitMs)).toBeLessThanOrEqual(160_000);
    const back = await api.ask('PATCH', at('tenants/acme'), { types: { ocr: { rate: null } } });
    expect(back).toMatchObject({ status: 200, body: { retimed: 1, overrides: {} } });
    expect(Number((await read(jobs[4]?.id)).waitMs)).toBeLessThanOrEqual(2000);
  });

  test('of its tier: everybody in it, and nobody else', async () => {
    await post('small', 3);
    await post('stranger', 3);
    await post('acme', 3);
    expect((await api.ask('PATCH', at('tiers/free'), { rate: '1/m' })).body).toMatchObject({ retimed: 2 });
    for (const tenant of ['small', 'stranger']) {
      const { body } = await api.ask('GET', at(`limits?tenant=${tenant}&type=ocr`));
      expect(body).toMatchObject({ limits: [{ profile: { ratePerSecond: 1 / 60 } }] });
    }
    const moved = await api.ask('PUT', at('tenants/small'), { tier: 'pro' });
    expect(moved.body).toMatchObject({ retimed: 1, tier: { value: 'pro', from: 'override', at: 'tenants.small' } });
    expect((await api.ask('PATCH', at('tiers/free'), { rate: '2/m' })).body).toMatchObject({ retimed: 1 });
  });

  test('of the capacity of its type: workers find it in Redis', async () => {
    const work = source('chat');
    await work.configure();
    await post('acme', 1, { type: 'chat' });
    await api.ask('PATCH', at('types/chat'), { capacity: { concurrency: 1 } });
    expect((await work.dispatch(work.newToken())).kind).toBe('job');
    await post('small', 1, { type: 'chat' });
    expect(await work.dispatch(work.newToken())).toEqual({ kind: 'nothing', waitUs: null });
    await api.ask('DELETE', at('types/chat'));
    expect((await work.dispatch(work.newToken())).kind).toBe('job');
  });

  test('in the other processes too: what they promise agrees, for jobs that they admit afterwards as well', async () => {
    const two = await another();
    const jobs = await post('acme', 4);
    await two.ask('PATCH', at('tenants/acme'), { types: { ocr: { rate: '0.1/s' } } });
    const [here, there] = [await read(jobs[3]?.id), await read(jobs[3]?.id, 'acme', two)];
    expect(Math.abs(Date.parse(String(here.releaseAt)) - Date.parse(String(there.releaseAt)))).toBeLessThan(50);
    await expect.poll(() => api.live.tenantOverride('acme').types.get('ocr')).toEqual({ ratePerSecond: 0.1 });
    await post('acme', 1);
    expect(Number((await read(jobs[3]?.id)).waitMs)).toBeGreaterThan(28_000);
  });

  test('a change that changes nothing re-times nothing', async () => {
    await post('acme', 2);
    for (const retimed of [1, 0]) {
      expect((await api.ask('PATCH', at('tenants/acme'), { weight: 9 })).body).toMatchObject({ retimed });
    }
  });
});

describe('PATCH and PUT', () => {
  test('state fields, clear them, and show what holds and why', async () => {
    await api.ask('PATCH', at('tenants/acme'), { rate: '3/s', depth: 7 });
    await api.ask('PATCH', at('tenants/acme'), { depth: null, types: { chat: { burst: 2 } } });
    const { body } = await api.ask('GET', at('tenants/acme'));
    expect(body).toMatchObject({
      inFile: true,
      overrides: { rate: '3/s', types: { chat: { burst: 2 } } },
      types: {
        ocr: {
          paused: [],
          profile: { rate: { value: '2/s', from: 'file' }, depth: { value: 100, from: 'tier', at: 'tiers.pro' } },
        },
        chat: {
          profile: {
            rate: { value: '3/s', from: 'override' },
            burst: { value: 2, from: 'override', at: 'tenants.acme.types.chat' },
          },
        },
      },
    });
    await api.ask('PUT', at('tenants/acme'), { weight: 2 });
    expect((await api.ask('GET', at('tenants/acme'))).body).toMatchObject({ overrides: { weight: 2 } });
    const { overrides } = (await api.ask('GET', at('tenants/acme'))).body;
    expect((await api.ask('PUT', at('tenants/acme'), overrides)).body).toMatchObject({ overrides: { weight: 2 } });
    expect((await api.ask('DELETE', at('tenants/acme'))).body).toMatchObject({ overrides: {} });
  });

  test('make a tenant known that nobody named, whatever its id', async () => {
    for (const id of ['a/b', 'ü', '__proto__', 'a:b{c} d', '%2F']) {
      const url = at(`tenants/${encodeURIComponent(id)}`);
      expect((await api.ask('PUT', url, { tier: 'pro', depth: 1 })).status).toBe(200);
      expect((await api.ask('GET', url)).body).toMatchObject({
        tenant: id,
        inFile: false,
        tier: { value: 'pro', from: 'override' },
        overrides: { tier: 'pro', depth: 1 },
      });
      expect(await api.ask('DELETE', url)).toMatchObject({
        status: 200,
        body: { overrides: {}, tier: { value: 'free', from: 'default' }, erased: 0, running: 0, more: false },
      });
    }
  });

  test('of different fields by two administrators at the same time both count', async () => {
    const two = await another();
    await Promise.all([
      api.ask('PATCH', at('tenants/acme'), { rate: '3/s' }),
      two.ask('PATCH', at('tenants/acme'), { depth: 7 }),
      api.ask('PATCH', at('tenants/acme'), { weight: 2 }),
      two.ask('PATCH', at('tenants/acme'), { types: { ocr: { burst: 3 } } }),
    ]);
    const both = { rate: '3/s', depth: 7, weight: 2, types: { ocr: { burst: 3 } } };
    for (const { live, ask } of [api, two]) {
      await expect.poll(() => live.values({ kind: 'tenant', name: 'acme' }).size).toBe(4);
      expect((await ask('GET', at('tenants/acme'))).body).toMatchObject({ overrides: both });
    }
  });

  test('survive the process, and win over a file that was changed meanwhile, field by field', async () => {
    await api.ask('PATCH', at('tenants/acme'), { types: { ocr: { rate: '5/s' } } });
    await api.ask('PATCH', at('tiers/pro'), { weight: 7 });
    const changed = LIVE_YAML.replace('rate: 2/s', 'rate: 3/s, burst: 9').replace(
      'weight: 4',
      'weight: 5, maxWait: 1h',
    );
    const later = await another(changed);
    const { body } = await later.ask('GET', at('tenants/acme'));
    expect(body).toMatchObject({
      types: {
        ocr: {
          profile: {
            rate: { value: '5/s', from: 'override' },
            burst: { value: 9, from: 'file' },
            weight: { value: 7, from: 'tier' },
            maxWait: { value: '1h', from: 'tier' },
          },
        },
      },
    });
    await later.ask('PATCH', at('tenants/acme'), { types: { ocr: null } });
    expect((await later.ask('GET', at('tenants/acme'))).body).toMatchObject({
      types: { ocr: { profile: { rate: { value: '3/s', from: 'file' } } } },
    });
  });

  test('say that a rate of 0 means paused, and so does every answer', async () => {
    const [job] = await post('acme', 1);
    const { body } = await api.ask('PATCH', at('tenants/acme'), { rate: 0, types: { ocr: { rate: 0 } } });
    expect(body).toMatchObject({
      types: { ocr: { paused: ['rate'], profile: { rate: { value: '0' } } }, chat: { paused: ['rate'] } },
      warnings: ['a rate of 0 means paused: nothing of this tenant starts in ocr, chat'],
    });
    expect(await read(job?.id)).toMatchObject({ releaseAt: null, waitMs: null });
    expect((await api.ask('PATCH', at('types/ocr'), { capacity: { rate: 0 } })).body).toMatchObject({
      paused: ['rate'],
      warnings: ['a rate of 0 means paused: nothing of this type starts'],
    });
    expect((await api.ask('PATCH', at('tiers/pro'), { jobRate: 0 })).body).toMatchObject({
      warnings: ['a rate of 0 means paused: nothing of the tenants of this tier starts'],
    });
  });

  test('take rates that add up to more than the capacity, and warn', async () => {
    const { status, body } = await api.ask('PATCH', at('tenants/acme'), { types: { ocr: { rate: '19.5/s' } } });
    expect(status).toBe(200);
    const warning = expect.stringContaining(
      'the rates of 2 tenants for type ocr add up to 20.5/s, more than its capacity of 20/s',
    );
    expect(body).toMatchObject({ warnings: [warning] });
    expect((await api.ask('GET', at('types/ocr'))).body).toMatchObject({ warnings: [warning] });
    expect((await api.ask('GET', at('types/chat'))).body).toMatchObject({ warnings: [] });
    expect((await api.ask('PATCH', at('types/ocr'), { capacity: { rate: '21/s' } })).body).toMatchObject({
      warnings: [],
    });
  });
});

describe('a change that is refused', () => {
  test.each<[string, unknown, number, string, string | undefined]>([
    ['tenants/acme', { weight: 0 }, 400, 'invalid_field', 'weight'],
    ['tenants/acme', { weight: -4 }, 400, 'invalid_field', 'weight'],
    ['tenants/acme', { weight: 1e9 }, 400, 'invalid_field', 'weight'],
    ['tiers/pro', { weight: 1e9 }, 400, 'invalid_field', 'weight'],
    ['tenants/acme', { rate: '5' }, 400, 'invalid_field', 'rate'],
    ['tenants/acme', { tier: 'gold' }, 400, 'invalid_field', 'tier'],
    ['tenants/acme', { types: { orc: { rate: '1/s' } } }, 400, 'invalid_field', 'types.orc'],
    ['tenants/acme', { key: 'a-key-of-16-letters' }, 400, 'unknown_field', 'key'],
    ['tenants/acme', { types: { ocr: { colour: 1 } } }, 400, 'unknown_field', 'types.ocr.colour'],
    ['tenants/acme', [], 400, 'invalid_field', 'body'],
    ['tenants/acme', undefined, 400, 'missing_field', 'body'],
    [`tenants/${'x'.repeat(129)}`, { rate: '1/s' }, 400, 'invalid_field', 'id'],
    ['types/ocr', { capacity: { rate: '1e9/s' } }, 400, 'invalid_field', 'capacity.rate'],
    ['types/ocr', { paused: '1' }, 400, 'unknown_field', 'paused'],
    ['types/orc', { capacity: {} }, 404, 'type_not_found', undefined],
    ['tiers/gold', {}, 404, 'tier_not_found', undefined],
    ['tenants/acme', { weight: 2, types: { ocr: { depth: -1 } } }, 400, 'invalid_field', 'types.ocr.depth'],
  ])('%s %j: %i %s %s, and nothing is stored', async (path, body, status, code, field) => {
    for (const method of ['PUT', 'PATCH'] as const) {
      const answer = await api.ask(method, at(path), body);
      expect(answer).toMatchObject({ status, body: { code } });
      expect(answer.body.field).toBe(field);
    }
    expect(await api.redis.keys('hg:*')).toEqual([]);
  });

  test('for its body: one that is too large, or where there is nothing to say', async () => {
    const large = { rate: '1/s', junk: 'x'.repeat(70_000) };
    expect(await api.ask('PATCH', at('tenants/acme'), large)).toMatchObject({ status: 413 });
    for (const path of ['tenants/acme/pause', 'types/ocr/purge']) {
      expect(await api.ask('POST', at(path), { now: true })).toMatchObject({ status: 400, body: { field: 'body' } });
    }
    expect(await api.ask('DELETE', at('tenants/acme'), { rate: null })).toMatchObject({ status: 400 });
    expect(await api.ask('POST', at('tenants/acme/pause?type=orc'))).toMatchObject({
      status: 400,
      body: { code: 'unknown_type', field: 'type' },
    });
  });
});

test('while Redis is away, a change is 503, and nothing was changed here either', async () => {
  const gone = await startRedis();
  const lone = await liveApp(gone.socketPath, LIVE_YAML);
  await gone.stop();
  for (const [method, path, body] of [
    ['PATCH', 'tenants/acme', { rate: '9/s' }],
    ['POST', 'types/ocr/pause', undefined],
    ['POST', 'tenants/acme/purge', undefined],
  ] as const) {
    expect(await lone.ask(method, at(path), body)).toMatchObject({ status: 503, body: { code: 'redis_unavailable' } });
  }
  expect(lone.live.subjects()).toEqual([]);
  await lone.close();
});
