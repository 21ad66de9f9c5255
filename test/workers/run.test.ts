import { describe, expect, test } from 'vitest';
import type { RunTerms } from '../../src/shaping/run-job.js';
import { type Handler, Unrecoverable, UpstreamBusy } from '../../workers/handler.js';
import { inProcess } from '../../workers/perform.js';
import { Run, type RunPlan } from '../../workers/run.js';

const quiet = () => undefined;
const SERVICES = {
  log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  progress: async () => undefined,
  emit: async () => undefined,
  charge: async () => undefined,
};

function runOf(
  run: Handler['run'],
  parts: Partial<RunPlan> & RunTerms & { handler?: Handler; attempt?: number; payload?: string } = {},
): Run {
  const { attempt = 1, payload = '{"n":1}', returns = 0, retries = {}, handler = { run }, ...plan } = parts;
  return new Run(
    { id: 'a', type: 'ocr', tenant: 'acme', attempt, cost: 1 },
    payload,
    {
      performer: inProcess(handler, { options: { lang: 'eng' }, maxResultBytes: 100 }),
      timeoutMs: 60_000,
      attempts: 3,
      backoff: { type: 'fixed', delayMs: 1000, maxMs: 1000 },
      retry: 'back',
      maxHoldMs: 60_000,
      maxReturns: 2,
      abandonAfterMs: 20,
      ...plan,
    },
    { returns, retries },
  );
}
const outcomeOf = (...args: Parameters<typeof runOf>) => runOf(...args).outcome(SERVICES);

/** Goes on until its signal is aborted, then throws the reason. */
const untilAborted: Handler['run'] = (_, { signal }) =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error(String(signal.reason)))));
const forEver: Handler['run'] = () => new Promise(() => undefined);
const fails: Handler['run'] = async () => {
  throw new Error('no good');
};

describe('a run', () => {
  test('gives its handler the job, and stores what it returns', async () => {
    const told = await outcomeOf(({ id, data, options, attempt }) => [id, data, options, attempt]);
    expect(told).toEqual({ kind: 'completed', value: '["a",{"n":1},{"lang":"eng"},1]' });
  });

  test.each<[string, unknown, string]>([
    ['nothing', undefined, 'null'],
    ['a text', 'ü', '"ü"'],
    ['a function', () => 1, 'null'],
    ['NaN', Number.NaN, 'null'],
  ])('whose handler returns %s completes', async (_, value, json) => {
    expect(await outcomeOf(async () => value)).toEqual({ kind: 'completed', value: json });
  });

  const circular: Record<string, unknown> = {};
  circular.self = circular;
  test.each<[string, unknown, RegExp]>([
    ['holds itself', circular, /circular/],
    ['is a BigInt', 10n, /BigInt/],
    ['is too large', 'x'.repeat(99), /101 bytes of JSON, at most 100/],
    ['is too large only in bytes', 'ü'.repeat(50), /102 bytes of JSON/],
  ])('whose result %s fails for good', async (_, value, reason) => {
    const outcome = await outcomeOf(async () => value);
    expect(outcome).toEqual({ kind: 'failed', value: expect.stringMatching(reason) });
  });

  test('with a payload that is no JSON fails for good, without its handler', async () => {
    let called = false;
    const outcome = await outcomeOf(() => (called = true), { payload: '{"n":' });
    expect(outcome).toEqual({ kind: 'failed', value: expect.stringMatching(/^the payload is not JSON: /) });
    expect(called).toBe(false);
  });

  test.each<[string, Handler['run']]>([
    ['rejects', fails],
    [
      'throws at once',
      () => {
        throw new Error('no good');
      },
    ],
  ])('whose handler %s is tried again, and fails at the last attempt', async (_, handler) => {
    const retry = { kind: 'retry', value: 'no good', front: false, delayMs: expect.any(Number) };
    expect(await outcomeOf(handler, { attempt: 2 })).toEqual(retry);
    expect(await outcomeOf(handler, { attempt: 3 })).toEqual({ kind: 'failed', value: 'no good' });
  });

  test('is tried again at the front where its type says so', async () => {
    expect(await outcomeOf(fails, { retry: 'front' })).toMatchObject({ kind: 'retry', front: true });
  });

  test.each<[string, RunTerms['retries'], number, object]>([
    ['fewer attempts than its type gives it', { attempts: 2 }, 2, { kind: 'failed' }],
    ['more attempts than its type gives it now', { attempts: 9 }, 3, { kind: 'failed' }],
    ['no wait', { backoff: { type: 'fixed', delayMs: 0 } }, 1, { kind: 'retry', delayMs: 0 }],
    [
      'a wait that its type cuts',
      { backoff: { type: 'exponential', delayMs: 60_000 } },
      1,
      { kind: 'retry', delayMs: expect.toSatisfy((ms: number) => ms >= 1000 && ms <= 1250) },
    ],
  ])('whose job asks for %s goes by the job, within its type', async (_, retries, attempt, outcome) => {
    expect(await outcomeOf(fails, { attempt, ...(retries && { retries }) })).toMatchObject(outcome);
  });

  test.each([
    ['Unrecoverable', new Unrecoverable('never')],
    ["BullMQ's, by its name", Object.assign(new Error('never'), { name: 'UnrecoverableError' })],
  ])('whose handler throws %s fails for good', async (_, error) => {
    expect(await outcomeOf(() => Promise.reject(error))).toEqual({ kind: 'failed', value: 'never' });
  });

  test.each<[unknown, string]>([
    ['text', 'text'],
    [undefined, 'undefined'],
    [new Error(''), 'Error'],
    [new Error('x'.repeat(5000)), 'x'.repeat(2000)],
  ])('whose handler throws an odd thing has a reason all the same', async (thrown, value) => {
    expect(await outcomeOf(() => Promise.reject(thrown), { attempt: 3 })).toEqual({ kind: 'failed', value });
  });
});

describe('a run whose upstream is busy', () => {
  const throwing =
    (error: unknown): Handler['run'] =>
    () =>
      Promise.reject(error);

  test.each<[asked: number, holdMs: number]>([
    [0, 0],
    [1500.2, 1501],
    [24 * 3_600_000, 60_000],
    [Infinity, 60_000],
  ])('and asks for %d ms holds its bucket for %d ms', async (asked, holdMs) => {
    const outcome = await outcomeOf(throwing(new UpstreamBusy(asked)));
    expect(outcome).toEqual({ kind: 'busy', value: `the upstream is busy for ${asked} ms`, holdMs, scope: 'bucket' });
  });

  test('holds the type where its handler says so', async () => {
    expect(await outcomeOf(throwing(new UpstreamBusy(5, { scope: 'type' })))).toMatchObject({
      kind: 'busy',
      scope: 'type',
    });
  });

  test('is known by the name of the error', async () => {
    const copy = Object.assign(new Error('busy'), { name: 'UpstreamBusy', retryAfterMs: 7, scope: 'other' });
    expect(await outcomeOf(throwing(copy))).toEqual({ kind: 'busy', value: 'busy', holdMs: 7, scope: 'bucket' });
  });

  test.each([undefined, '7', -1, Number.NaN])(
    'fails like any other when the name is all there is: %s',
    async (retryAfterMs) => {
      const copy = Object.assign(new Error('busy'), { name: 'UpstreamBusy', retryAfterMs });
      expect(await outcomeOf(throwing(copy))).toMatchObject({ kind: 'retry', value: 'busy' });
    },
  );

  test('uses an attempt once it has come back too often, and fails at the last', async () => {
    const busy = throwing(new UpstreamBusy(5));
    expect(await outcomeOf(busy, { returns: 1 })).toMatchObject({ kind: 'busy' });
    expect(await outcomeOf(busy, { returns: 2 })).toMatchObject({ kind: 'retry', delayMs: expect.any(Number) });
    expect(await outcomeOf(busy, { returns: 2, attempt: 3 })).toMatchObject({ kind: 'failed' });
  });

  test('but was cancelled, or was out of time, ends as such', async () => {
    const late: Handler['run'] = (_, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new UpstreamBusy(5))));
    const run = runOf(late);
    const ended = run.outcome(SERVICES);
    run.stop('cancelled');
    expect(await ended).toMatchObject({ kind: 'cancelled' });
    expect(await outcomeOf(late, { timeoutMs: 5 })).toMatchObject({ kind: 'retry', value: 'timed out after 5 ms' });
  });

  test.each<[unknown, unknown, RegExp]>([
    [-1, 'bucket', /retryAfterMs: expected milliseconds, 0 or more; got -1/],
    [Number.NaN, 'bucket', /retryAfterMs: .* got NaN/],
    ['5', 'bucket', /retryAfterMs: .* got 5/],
    [5, 'tenant', /scope: expected bucket or type; got tenant/],
  ])('cannot ask for %s and %s', (ms, scope, message) => {
    const make: unknown = UpstreamBusy;
    expect(() => Reflect.construct(Object(make), [ms, { scope }])).toThrow(message);
  });
});

describe('a run that takes too long', () => {
  test('is told so, and tried again', async () => {
    const outcome = await outcomeOf(untilAborted, { timeoutMs: 5 });
    expect(outcome).toMatchObject({ kind: 'retry', value: 'timed out after 5 ms' });
  });

  test('goes by the handler’s own limit first', async () => {
    const handler = { run: untilAborted, timeoutMs: 7 };
    expect(await outcomeOf(forEver, { handler, attempt: 3 })).toEqual({
      kind: 'failed',
      value: 'timed out after 7 ms',
    });
  });

  test('is abandoned when its handler does not listen', async () => {
    const outcome = await outcomeOf(forEver, { timeoutMs: 5, attempt: 3 });
    expect(outcome).toEqual({ kind: 'failed', value: 'timed out after 5 ms' });
  });

  test('may still complete in the time that is left', async () => {
    const late: Handler['run'] = (_, { signal }) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve('late')));
    expect(await outcomeOf(late, { timeoutMs: 5 })).toEqual({ kind: 'completed', value: '"late"' });
  });
});

describe('a run that is asked to stop', () => {
  test.each([
    ['cancelled', { kind: 'cancelled', value: 'cancelled' }],
    ['shutdown', { kind: 'return', value: 'the worker was shutting down' }],
    ['lock lost', { kind: 'retry', value: 'lock lost' }],
  ] as const)('because of %s ends so', async (reason, outcome) => {
    const run = runOf(untilAborted);
    const ended = run.outcome(SERVICES);
    run.stop(reason);
    expect(await ended).toMatchObject(outcome);
  });

  test('before it began is told at once, and is abandoned all the same', async () => {
    const run = runOf(forEver);
    run.stop('cancelled');
    expect(await run.outcome(SERVICES)).toEqual({ kind: 'cancelled', value: 'cancelled' });
  });

  test('twice keeps to the first reason', async () => {
    const run = runOf(untilAborted);
    const ended = run.outcome(SERVICES);
    run.stop('shutdown');
    run.stop('cancelled');
    expect(await ended).toMatchObject({ kind: 'return' });
  });
});
