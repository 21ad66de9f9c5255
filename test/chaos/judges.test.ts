import { describe, expect, test } from 'vitest';
import type { Trace, TraceEvent } from '../referee/trace.js';
import { judge } from '../referee/verdict.js';
import { firstBreach } from './book-check.js';
import { drawn, FAULTS } from './faults.js';
import { readFlags } from './flags.js';
import { Ledger } from './ledger.js';
import { takenByCut } from './power-cut.js';
import { seeded } from './random.js';
import { secondRuns } from './second-runs.js';
import { summaryOf } from './summary.js';
import { syncsOf } from './synced-bytes.js';
import { CONTRACT } from './terms.js';

const JOB = { id: 'j', type: 'a', tenant: 't', sentAt: 0, acceptedAt: 1 };

describe('what was synced, by strace', () => {
  const at = (second: number, call: string, pid = 7) => `${pid} ${second.toFixed(6)} ${call}`;
  const wrote = (second: number, bytes: number) => at(second, `write(8, ""..., ${bytes}) = ${bytes}`);
  const synced = (second: number, pid?: number) => at(second, 'fdatasync(8) = 0 (DELAYED)', pid);
  const begins = (second: number, pid: number) => at(second, 'fsync(8 <unfinished ...>', pid);
  const ends = (second: number, pid: number) => at(second, '<... fsync resumed>) = 0', pid);
  test.each([
    ['nothing happened', [], 0, undefined],
    ['written and synced', [wrote(1, 5), synced(2)], 0, 1],
    ['written after the sync', [wrote(1, 5), synced(2), wrote(3, 3)], 3, 1],
    ['killed in the sync', [wrote(1, 5), begins(2, 7), at(3, '+++ killed by SIGKILL +++')], 5, undefined, 1],
    ['written while another thread synced', [wrote(1, 5), begins(2, 9), wrote(3, 3), ends(4, 9)], 3, 1, 1],
    ['synced for the second time in vain', [wrote(1, 5), synced(2), wrote(3, 3), begins(4, 9)], 3, 1],
    [
      'a write that took long began before it was covered',
      [at(1, 'write(8, ""..., 5 <unfinished ...>'), at(3, '<... write resumed>) = 5'), synced(4, 9)],
      0,
      1,
    ],
    [
      'two syncs of which one covers the other',
      [wrote(1, 5), begins(2, 9), wrote(3, 3), synced(4), ends(5, 9), wrote(6, 2)],
      2,
      3,
      2,
    ],
    ['a sync that failed', [wrote(1, 5), at(2, 'fdatasync(8) = -1 EIO')], 5, undefined],
    ['a sync that took half a second', [wrote(1, 5), begins(2, 9), ends(2.5, 9), wrote(4, 3)], 3, 1],
    [
      'killed in the sync after one that took 3 s',
      [wrote(1, 5), begins(2, 9), ends(5, 9), wrote(5, 3), begins(5, 9), wrote(9, 1)],
      4,
      1,
      6,
    ],
  ] as const)('%s', (_, log, unsyncedBytes, coveredSecond, slowSeconds: number = 0) => {
    const coveredAt = coveredSecond && coveredSecond * 1000;
    expect(syncsOf(log.join('\n'))).toEqual({ unsyncedBytes, coveredAt, slowMs: slowSeconds * 1000 });
  });
});

describe('what a power cut may have taken with `everysec`', () => {
  const cuts = [
    { bytes: 10, safeAt: 1000, deadAt: 1700, slowMs: 0 },
    { bytes: 10, safeAt: 5000, deadAt: 7500, slowMs: 0 },
    { bytes: 10, safeAt: 15_000, deadAt: 17_500, slowMs: 1400 },
  ];
  test.each([
    ['accepted after the last write that a sync covered', { sentAt: 1100, acceptedAt: 1200 }, 500],
    ['sent before that write, accepted after it', { sentAt: 900, acceptedAt: 1001 }, 699],
    ['accepted in the last second, and a tick of Redis', { sentAt: 6399, acceptedAt: 6400 }, 1100],
    ['accepted long before the cut, where the disk was slow', { sentAt: 15_001, acceptedAt: 15_002 }, 2498],
    ['answered when the server was dead already', { sentAt: 1690, acceptedAt: 1705 }, -5],
  ])('a job %s', (_, times, ageMs) =>
    expect(takenByCut({ ...JOB, ...times }, cuts)).toEqual({ ageMs, isTooOld: false }),
  );

  test('but none that was accepted before the last second, where the disk was not slow', () =>
    expect(takenByCut({ ...JOB, sentAt: 6398, acceptedAt: 6399 }, cuts)).toEqual({ ageMs: 1101, isTooOld: true }));

  test.each([
    ['accepted before that write, by a millisecond', { sentAt: 900, acceptedAt: 1000 }],
    ['accepted shortly before the cut, where all was synced', { sentAt: 4980, acceptedAt: 4990 }],
    ['sent when the server was dead: another one has accepted it', { sentAt: 1700, acceptedAt: 2500 }],
    ['accepted after all cuts', { sentAt: 19_000, acceptedAt: 19_001 }],
  ])('no job %s', (_, times) => expect(takenByCut({ ...JOB, ...times }, cuts)).toBeUndefined());
});

describe('a run whose cut lost a job that was answered', () => {
  const summaryOfLost = (durability: 'always' | 'everysec', acceptedAt: number, deadAt = 1700) => {
    const cuts = [{ bytes: 10, safeAt: 1000, deadAt, slowMs: 0 }];
    const job = { ...JOB, sentAt: acceptedAt - 5, acceptedAt };
    const ledger = new Ledger();
    ledger.answered({ status: 202, tookMs: 5, job });
    const verdict = judge([], CONTRACT);
    return summaryOf({
      ...{ order: { seed: 1, seconds: 1, durability, cut: true }, blows: [], ledger, cuts, verdict },
      books: { lost: [job], twoEnds: [], running: [], waiting: [], envelope: [] },
      samples: { taken: 1, overCap: [], overDepth: [] },
      again: { jobs: 0, byFault: {}, takenUp: [] },
    });
  };
  test('passes with `everysec`, if the job was accepted after the last write that a sync covered', () => {
    const { passed, zeros, lostBeforeCuts } = summaryOfLost('everysec', 1200);
    expect([passed, zeros.lost, lostBeforeCuts]).toEqual([true, 0, { jobs: 1, oldestMs: 500 }]);
  });
  test.each([
    ['everysec', 1000],
    ['always', 1200],
  ] as const)('fails with `%s`, if it was accepted at %d', (durability, acceptedAt) => {
    const { passed, zeros, faults } = summaryOfLost(durability, acceptedAt);
    expect([passed, zeros.lost, faults]).toEqual([false, 1, ['lost: j']]);
  });
  test('fails with `everysec`, if it was accepted before the last second and no sync was slow', () => {
    const { passed, zeros, faults } = summaryOfLost('everysec', 1200, 2301);
    expect([passed, zeros.lost, zeros.lostOfBeforeTheLastSecond]).toEqual([false, 0, 1]);
    expect(faults).toEqual(['lost, accepted 1101 ms before the cut: j']);
  });
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
  const job = (id: string) => ({ ...JOB, id });
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
  const admitted = (id: string, priority: number): TraceEvent => ({
    ...{ kind: 'admission', sentAt: -2, answeredAt: -1, type: 'a', tenant: 't', delayMs: 0, cost: 1 },
    ...{ priority, status: 202, body: { id } },
  });
  const trace: Trace = [
    admitted('killed', 9),
    admitted('failing', 4),
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
    takenUp: [{ job: 'killed', ms: 2950, urgentBefore: 1, othersBefore: 0, longestPauseMs: 2900 }],
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
