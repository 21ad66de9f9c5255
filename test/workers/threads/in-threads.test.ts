import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import type { Performer } from '../../../workers/perform.js';
import { Run, type RunPlan, type StopReason } from '../../../workers/run.js';
import { inThreads, type ThreadOptions } from '../../../workers/threads/in-threads.js';

const MB = 1024 * 1024;
const FILE = fileURLToPath(new URL('./deeds.ts', import.meta.url));
const ENTRY = new URL('./thread-entry.mjs', import.meta.url);
const opened: Performer[] = [];
const deaths: unknown[] = [];

function threadsOf(file: string, parts: Partial<ThreadOptions> = {}): Performer {
  const performer = inThreads({
    ...{ file, threads: 2, entry: ENTRY, memoryBytes: 256 * MB, options: { lang: 'eng' }, maxResultBytes: MB },
    onError: (error) => deaths.push(error),
    ...parts,
  });
  opened.push(performer);
  return performer;
}
const performer = threadsOf(FILE);
const small = threadsOf(FILE, { memoryBytes: 32 * MB });
afterAll(async () => {
  for (const each of opened) await each.close();
});

/** What the other end was told. */
interface Heard {
  progress: unknown[];
  output: unknown[];
  cost: number[];
  lines: unknown[][];
}

function run(deed: string, parts: Partial<RunPlan> & { data?: object; payload?: string } = {}) {
  const { data = {}, payload = JSON.stringify({ do: deed, ...data }), ...plan } = parts;
  const heard: Heard = { progress: [], output: [], cost: [], lines: [] };
  const line = (...said: unknown[]) => void heard.lines.push(said);
  const begun = new Run({ id: 'a', type: 'ocr', tenant: 'acme', attempt: 1, cost: 1 }, payload, {
    ...{ performer, timeoutMs: 60_000, attempts: 3, retry: 'back', maxHoldMs: 60_000, maxReturns: 2 },
    backoff: { type: 'fixed', delayMs: 1000, maxMs: 1000 },
    abandonAfterMs: 60_000,
    ...plan,
  });
  const outcome = begun.outcome({
    progress: async (value) => void heard.progress.push(value),
    emit: async (chunk) => void heard.output.push(chunk),
    charge: async (cost) => void heard.cost.push(cost),
    log: { debug: line, info: line, warn: line, error: line },
  });
  return { outcome, heard, stop: (reason: StopReason) => begun.stop(reason) };
}
const outcomeOf = (...args: Parameters<typeof run>) => run(...args).outcome;

describe('a handler in a thread', () => {
  test('is TypeScript, is given the job and the options, and its result is stored', async () => {
    const { kind, value } = await outcomeOf('returns');
    expect(kind).toBe('completed');
    expect(JSON.parse(value)).toEqual({
      ...{ id: 'a', type: 'ocr', tenant: 'acme', attempt: 1, cost: 1, options: { lang: 'eng' } },
      data: { do: 'returns' },
      threadId: expect.toSatisfy((id: number) => id > 0),
    });
  });

  test('holds up nobody while it computes', async () => {
    let ticks = 0;
    const ticking = setInterval(() => {
      ticks += 1;
    }, 10);
    expect(await outcomeOf('computes', { data: { ms: 500 } })).toEqual({ kind: 'completed', value: '"computed"' });
    clearInterval(ticking);
    expect(ticks).toBeGreaterThan(5);
  });

  test('is heard: progress, cost and log, all before it has ended', async () => {
    const { outcome, heard } = run('tells');
    const { kind, value } = await outcome;
    expect(kind).toBe('completed');
    expect(Number(value)).toBeGreaterThan(Date.now());
    expect(heard).toMatchObject({
      progress: [{ page: 3 }],
      output: ['Hel', 'lo'],
      cost: [7],
      lines: [
        [{ err: { message: 'odd' } }, 'look'],
        [{}, 'only words'],
      ],
    });
  });

  test('knows an error from another as in the process', async () => {
    expect(await outcomeOf('throws')).toMatchObject({ kind: 'retry', value: 'no good' });
    expect(await outcomeOf('throws text')).toMatchObject({ kind: 'retry', value: 'no good' });
    expect(await outcomeOf('gives up')).toEqual({ kind: 'failed', value: 'never' });
    expect(await outcomeOf('is turned away')).toMatchObject({ kind: 'busy', holdMs: 1234, scope: 'type' });
    expect(await outcomeOf('emits what is too much')).toMatchObject({
      kind: 'retry',
      value: 'emit: 70002 bytes of JSON in one chunk, at most 65536',
    });
    expect(await outcomeOf('overcharges')).toMatchObject({
      kind: 'retry',
      value: expect.stringMatching(/expected a cost/),
    });
  });

  test.each([
    ['circles', /^the result cannot be stored: .*circular/],
    ['counts', /^the result cannot be stored: .*BigInt/],
    ['floods', /^the result cannot be stored: 52428802 bytes of JSON, at most 1048576$/],
  ])('whose result cannot be stored fails for good: %s', async (deed, reason) => {
    expect(await outcomeOf(deed)).toEqual({ kind: 'failed', value: expect.stringMatching(reason) });
  });

  test('never sees a payload that is no JSON', async () => {
    expect(await outcomeOf('', { payload: '{"do":' })).toMatchObject({
      kind: 'failed',
      value: expect.stringMatching(/^the payload is not JSON/),
    });
  });
});

describe('a thread that is asked to stop', () => {
  test.each([
    ['cancelled', 'cancelled'],
    ['shutdown', 'return'],
    ['timeout', 'retry'],
  ] as const)('because of %s is told, and obeys', async (reason, kind) => {
    const { outcome, stop } = run('waits');
    stop(reason);
    expect(await outcome).toMatchObject({ kind });
  });

  test('and computes on is ended after the grace, and its place is free again', { timeout: 60_000 }, async () => {
    const single = threadsOf(FILE, { threads: 1 });
    const { outcome, stop } = run('computes', { performer: single, data: { ms: 3_600_000 }, abandonAfterMs: 50 });
    stop('timeout');
    expect(await outcome).toMatchObject({ kind: 'retry' });
    expect(await outcomeOf('returns', { performer: single })).toMatchObject({ kind: 'completed' });
  });
});

describe('a thread that dies', () => {
  test.each([
    ['exits', /^its thread died: worker exited with code: 7$/],
    ['throws behind its back', /^its thread died: nobody catches this$/],
    ['needs all memory', /^its thread died: .*memory/],
  ])('because it %s fails its job alone, and the next one runs', { timeout: 60_000 }, async (deed, reason) => {
    const beside = run('computes', { performer: small, data: { ms: 300 } });
    expect(await outcomeOf(deed, { performer: small })).toMatchObject({
      kind: 'retry',
      value: expect.stringMatching(reason),
    });
    expect(await beside.outcome).toMatchObject({ kind: 'completed' });
    expect(await outcomeOf('returns', { performer: small })).toMatchObject({ kind: 'completed' });
  });
});

test('a handler file that throws while it loads in the thread fails each job and says why', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'hg-thread-'));
  const file = join(dir, 'broken.ts');
  await writeFile(file, 'throw new Error("not here");');
  const broken = threadsOf(file);
  for (const _ of [1, 2]) {
    const outcome = await outcomeOf('returns', { performer: broken });
    expect(outcome).toMatchObject({ kind: 'retry', value: `handler ${file}: failed while loading: not here` });
  }
  await rm(dir, { recursive: true });
});

test('none of these died with nothing to do', () => {
  expect(deaths).toEqual([]);
});
