import { describe, expect, test } from 'vitest';
import { liveTests } from './support/live-tests.js';

const { api, another, source, post, read } = liveTests();
const at = (path: string) => `/v1/${path}`;

describe('a pause by hand', () => {
  test('of a tenant in one type: nothing starts, what comes is taken, and it goes on without a burst', async () => {
    const work = source('ocr');
    await work.configure();
    const [job] = await post('acme', 3);
    expect((await api.ask('POST', at('tenants/acme/pause?type=ocr'))).body).toEqual({
      tenant: 'acme',
      types: { ocr: { paused: ['hand'] } },
    });
    expect(await work.dispatch(work.newToken())).toEqual({ kind: 'nothing', waitUs: null });
    expect(await read(job?.id)).toMatchObject({ releaseAt: null });
    const later = await another();
    expect((await later.ask('GET', at('tenants/acme'))).body).toMatchObject({
      types: { ocr: { paused: ['hand'] }, chat: { paused: [] } },
    });
    expect((await api.ask('POST', at('tenants/acme/resume'))).body).toEqual({
      tenant: 'acme',
      types: { ocr: { paused: [] }, chat: { paused: [] } },
    });
    expect((await work.dispatch(work.newToken())).kind).toBe('job');
    const next = await work.dispatch(work.newToken());
    expect(next).toMatchObject({ kind: 'nothing', waitUs: expect.any(Number) });
  });

  test('of a type: kept apart from its capacity, whoever configures it and whenever', async () => {
    const work = source('ocr');
    await work.configure();
    await post('acme', 1);
    expect((await api.ask('POST', at('types/ocr/pause'))).body).toEqual({ type: 'ocr', paused: ['hand'] });
    await api.ask('PUT', at('types/ocr'), { capacity: { rate: '5/s' } });
    await api.ask('DELETE', at('types/ocr'));
    const later = await another();
    const worker = source('ocr', later);
    await worker.configure();
    expect(await worker.dispatch(worker.newToken())).toEqual({ kind: 'nothing', waitUs: null });
    expect((await later.ask('GET', at('types/ocr'))).body).toMatchObject({
      paused: ['hand'],
      capacity: { rate: { value: '20/s' } },
      overrides: {},
    });
    expect((await later.ask('GET', at('tenants/acme'))).body).toMatchObject({ types: { ocr: { paused: ['type'] } } });
    expect((await later.ask('POST', at('types/ocr/resume'))).body).toEqual({ type: 'ocr', paused: [] });
    expect((await worker.dispatch(worker.newToken())).kind).toBe('job');
  });
});

describe('a purge', () => {
  test('of a tenant cancels what waits and is delayed, says how many, and leaves what runs', async () => {
    const work = source('ocr');
    await work.configure();
    const jobs = await post('acme', 3);
    const [delayed] = await post('acme', 1, { delayMs: 60_000 });
    await api.ask('POST', at('jobs'), { type: 'chat', tenant: 'acme', data: {} });
    const [kept] = await post('small', 1);
    const running = await work.dispatch(work.newToken());
    expect(running).toMatchObject({ kind: 'job', id: jobs[0]?.id });
    expect((await api.ask('POST', at('tenants/acme/purge'))).body).toEqual({
      tenant: 'acme',
      cancelled: 4,
      more: false,
      types: { ocr: { cancelled: 3 }, chat: { cancelled: 1 } },
    });
    for (const id of [jobs[1]?.id, jobs[2]?.id, delayed?.id])
      expect(await read(id)).toMatchObject({ state: 'cancelled' });
    expect(await read(jobs[0]?.id)).toMatchObject({ state: 'active' });
    expect(await read(kept?.id, 'small')).toMatchObject({ state: 'waiting' });
    expect((await api.ask('POST', at('tenants/acme/purge?type=ocr'))).body).toMatchObject({ cancelled: 0 });
  });

  test('of a type reaches every tenant, paused and delayed ones too, in more than one step', async () => {
    const many = Array.from({ length: 450 }, () => ({ type: 'ocr', data: {} }));
    await api.ask('PATCH', at('tenants/acme'), { depth: 1000 });
    expect((await api.ask('POST', at('jobs/batch'), { tenant: 'acme', jobs: many })).body).toMatchObject({
      admitted: 450,
    });
    await post('paused', 2);
    await api.ask('POST', at('tenants/paused/pause'));
    await post('later', 2, { delayMs: 60_000 });
    expect((await api.ask('POST', at('types/ocr/purge'))).body).toEqual({ type: 'ocr', cancelled: 454, more: false });
    expect((await api.ask('GET', at('types?tenant=acme'))).body).toMatchObject({
      types: [{ type: 'ocr', backloggedBuckets: 0 }, { type: 'chat' }],
    });
  });
});
