import { describe, expect, test } from 'vitest';
import type { Trace } from '../referee/trace.js';
import { firstBreach } from './book-check.js';
import { drawn, FAULTS } from './faults.js';
import { readFlags } from './flags.js';
import { Ledger } from './ledger.js';
import { seeded } from './random.js';
import { secondRuns } from './second-runs.js';
import { syncedBytes } from './synced-bytes.js';

describe('bytes that were synced, by strace', () => {
  const wrote = (bytes: number) => `7 write(8, ""..., ${bytes}) = ${bytes}`;
  test.each([
    ['nothing happened', [], 100],
    ['written and synced', [wrote(5), '7 fdatasync(8) = 0 (DELAYED)'], 100],
    ['written after the sync', [wrote(5), '7 fdatasync(8) = 0', wrote(3)], 97],
    ['killed in the sync', [wrote(5), '7 fdatasync(8 <unfinished ...>', '7 +++ killed by SIGKILL +++'], 95],
    [
      'written while another thread synced',
      [wrote(5), '9 fdatasync(8 <unfinished ...>', wrote(3), '9 <... fdatasync resumed>) = 0'],
      97,
    ],
    [
      'two syncs of which one covers the other',
      [wrote(5), '9 fsync(8 <unfinished ...>', wrote(3), '7 fdatasync(8) = 0', '9 <... fsync resumed>) = 0', wrote(2)],
      98,
    ],
    ['a sync that failed', [wrote(5), '7 fdatasync(8) = -1 EIO'], 95],
  ])('%s', (_, log, bytes) => expect(syncedBytes(log.join('\n'), 100)).toBe(bytes));
});

describe('starts against the rate of a bucket: 5/s, burst 3, slack 100 ms', () => {
  const every = (ms: number, count: number) => Array.from({ length: count }, (_, at) => 1000 + at * ms);
  test('at its rate they are lawful, behind a burst', () => {
    expect(firstBreach([1000, 1000, 1000, ...every(200, 50).slice(1)])).toBeUndefined();
  });
  test('one more in the burst is none too many within the slack, two are', () => {
    expect(firstBreach([1000, 1000, 1000, 1099])).toBeUndefined();
    expect(firstBreach([1000, 1000, 1000, 1000])).toContain('4 starts within 1 ms');
  });
  test('a rate that is too high is found', () => expect(firstBreach(every(150, 50))).toContain('starts within'));
});

describe('the ledger', () => {
  const job = (id: string) => ({ id, type: 'a', tenant: 't', acceptedAt: 1 });
  test('keeps what was accepted, once', () => {
    const ledger = new Ledger();
    for (const id of ['1', '1', '2']) ledger.answered({ status: 202, tookMs: 5, job: job(id) });
    ledger.answered({ status: 503, tookMs: 9 });
    expect([...ledger.accepted.keys()]).toEqual(['1', '2']);
    expect(ledger).toMatchObject({ longestAnswerMs: 9, faults: [] });
  });
  test('notes one key with two jobs, a 202 without a job, and answers that nobody should get', () => {
    const ledger = new Ledger();
    for (const id of ['1', '1', '2']) ledger.answered({ status: 202, tookMs: 1, job: job(id), key: 'k' });
    ledger.answered({ status: 202, tookMs: 1 });
    ledger.answered({ status: 500, tookMs: 1 });
    expect(ledger.doubled).toEqual([{ first: '1', second: '2' }]);
    expect(ledger.faults).toEqual(['a 202 named no job', 'a request was answered 500']);
  });
});

test('a second run is put down to the blow that ended the first; one that a failure asked for is none', () => {
  const start = (at: number, run: number, job: string) =>
    ({ kind: 'start', at, run, job, type: 'a', tenant: 't', cost: 1, attempt: 1 }) as const;
  const trace: Trace = [
    start(0, 1, 'killed'),
    { kind: 'gone', at: 50, run: 1 },
    start(3000, 2, 'killed'),
    start(0, 3, 'failing'),
    { kind: 'end', at: 10, run: 3, outcome: 'failed' },
    start(100, 4, 'failing'),
    start(20_000, 5, 'odd'),
    start(20_100, 6, 'odd'),
  ];
  const blows = [
    { fault: 'connections cut', from: 10, to: 20, recoveryMs: 1 },
    { fault: 'worker killed', from: 40, to: 500, recoveryMs: 1 },
    { fault: 'API killed', from: 2000, to: 2500, recoveryMs: 1 },
  ];
  expect(secondRuns(trace, blows)).toEqual({
    jobs: 2,
    byFault: { 'worker killed': 1, 'no fault': 1 },
    takenUpMs: [2950],
  });
});

describe('a seed', () => {
  const draws = (seed: number) => {
    const faults = drawn(seeded(seed));
    return Array.from({ length: 40 }, () => faults.next().value.name);
  };
  test('repeats its run, and another one is another run', () => {
    expect(draws(7)).toEqual(draws(7));
    expect(draws(7)).not.toEqual(draws(8));
  });
  test('has drawn every fault before any comes more often than it weighs', () => {
    const weights = FAULTS.reduce((sum, { weight }) => sum + weight, 0);
    const faults = drawn(seeded(3));
    const names = Array.from({ length: weights }, () => faults.next().value.name);
    expect(new Set(names).size).toBe(FAULTS.length);
  });
});

describe('the flags', () => {
  test('have defaults', () => {
    const order = { seed: 1, seconds: 180, durability: 'everysec', cut: false };
    expect(readFlags([])).toEqual({ kind: 'run', order, jsonFile: undefined });
  });
  test.each([['--seed', 'x'], ['--minutes', '0'], ['--minutes', 'NaN'], ['--durability', 'never'], ['--nope']])(
    '%s %s is refused',
    (...args) => expect(readFlags(args)).toMatchObject({ kind: 'wrong' }),
  );
});
