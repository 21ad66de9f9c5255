import { describe, expect, test } from 'vitest';
import type { JobOffer } from '../../src/model/scheduler/scheduled-job.js';
import { CLOCK_START, readClock } from '../../src/model/scheduler/virtual-clock.js';
import { wholeUs } from '../../src/model/scheduler/whole-us.js';
import { Scheduler } from '../../src/model/scheduler.js';
import { BEGIN_US } from './simulation.js';
import { type Stated, termsOf } from './terms-of.js';

const LIMIT = 100;
const offer = (id: string, rest: Partial<JobOffer> = {}): JobOffer => ({
  id,
  priority: 4,
  cost: 1,
  bytes: 0,
  delayMs: 0,
  ...rest,
});

/** A scheduler in which bucket `a` has jobs `j1`, `j2` …, and an account of what it hands out. */
function withJobs(n: number, stated: Stated = {}) {
  const scheduler = new Scheduler();
  const offers = Array.from({ length: n }, (_, i) => offer(`j${i + 1}`));
  scheduler.admit(BEGIN_US, 'a', termsOf(stated), offers);
  const take = (token: string, afterUs = 0): string => {
    const found = scheduler.dispatch(BEGIN_US + afterUs, token, LIMIT);
    return found.kind === 'job' ? found.id : `nothing for ${found.waitUs ?? 'ever'} µs`;
  };
  const waiting = (): string[] => scheduler.state.bucket('a').backlog.waiting.map(({ id }) => id);
  return { scheduler, take, waiting };
}

describe('how a run ends', () => {
  test.each([
    { outcome: { kind: 'completed' } as const, state: 'completed', order: ['j2'] },
    { outcome: { kind: 'failed' } as const, state: 'failed', order: ['j2'] },
    { outcome: { kind: 'cancelled' } as const, state: 'cancelled', order: ['j2'] },
    { outcome: { kind: 'return' } as const, state: 'waiting', order: ['j1', 'j2'] },
    { outcome: { kind: 'retry', delayMs: 0, front: true } as const, state: 'waiting', order: ['j1', 'j2'] },
    { outcome: { kind: 'retry', delayMs: 0, front: false } as const, state: 'waiting', order: ['j2', 'j1'] },
    { outcome: { kind: 'retry', delayMs: 9, front: false } as const, state: 'delayed', order: ['j2'] },
  ])('$outcome.kind makes it $state', ({ outcome, state, order }) => {
    const { scheduler, take, waiting } = withJobs(2);
    take('t1');
    const run = { token: 't1', tenant: 'a', id: 'j1', outcome };
    expect(scheduler.settle(BEGIN_US, run, LIMIT).verdict).toBe('settled');
    expect(scheduler.state.job('a', 'j1')?.state).toBe(state);
    expect(waiting()).toEqual(order);
    expect(scheduler.state.runs.size).toBe(0);
    expect(scheduler.settle(BEGIN_US, run, LIMIT).verdict).toBe('settled');
    expect(waiting()).toEqual(order);
  });

  test('a job that was taken back is lost to the worker that had it', () => {
    const { scheduler, take, waiting } = withJobs(2);
    take('t1');
    expect(scheduler.recover(BEGIN_US, ['t1'], 1).map(({ id }) => id)).toEqual(['j1']);
    expect(waiting()).toEqual(['j1', 'j2']);
    const run = { token: 't1', tenant: 'a', id: 'j1', outcome: { kind: 'completed' } as const };
    expect(scheduler.settle(BEGIN_US, run, LIMIT).verdict).toBe('lost');
  });

  test('a job that stalls once too often fails', () => {
    const { scheduler, take } = withJobs(1);
    for (const token of ['t1', 't2']) {
      take(token);
      scheduler.recover(BEGIN_US, [token], 1);
    }
    expect(scheduler.state.job('a', 'j1')?.state).toBe('failed');
  });

  test.each([
    { outcome: { kind: 'return' } as const },
    { outcome: { kind: 'retry', delayMs: 0, front: false } as const },
    { outcome: { kind: 'retry', delayMs: 5, front: false } as const },
  ])('a job that was asked to stop does not wait again after $outcome.kind', ({ outcome }) => {
    const { scheduler, take } = withJobs(1);
    take('t1');
    expect(scheduler.cancel(BEGIN_US, 'a', 'j1')).toBe('cancel_requested');
    scheduler.settle(BEGIN_US, { token: 't1', tenant: 'a', id: 'j1', outcome }, LIMIT);
    expect(scheduler.state.job('a', 'j1')?.state).toBe('cancelled');
  });
});

describe('what is not handed out', () => {
  test('anything of a bucket that is stopped, until it goes on', () => {
    const { scheduler, take } = withJobs(1);
    scheduler.pause(BEGIN_US, 'a', true);
    expect(take('t1')).toBe('nothing for ever µs');
    scheduler.pause(BEGIN_US, 'a', false);
    expect(take('t1')).toBe('j1');
  });

  test('anything at a rate of 0, whose level stays for when it has one again', () => {
    const { scheduler, take } = withJobs(2, { rate: 2 });
    take('t1');
    scheduler.retime(BEGIN_US, 'a', termsOf({ rate: 0 }));
    expect(take('t2')).toBe('nothing for ever µs');
    scheduler.retime(BEGIN_US, 'a', termsOf({ rate: 4 }));
    expect(take('t2')).toBe('nothing for 250000 µs');
  });

  test('a job that expired or was cancelled; the next one starts in its place', () => {
    const { scheduler, take } = withJobs(0, { rate: 1 });
    const soon = { startByUs: BEGIN_US + 1_500_000 };
    scheduler.admit(BEGIN_US, 'a', termsOf({ rate: 1 }), [
      offer('j1'),
      offer('j2', { cost: 9, ...soon }),
      offer('j3'),
      offer('j4'),
    ]);
    take('t1');
    scheduler.cancel(BEGIN_US, 'a', 'j3');
    expect(take('t2', 1_500_000)).toBe('j4');
    expect(scheduler.state.job('a', 'j2')?.state).toBe('expired');
  });

  test('a second job to one token', () => {
    const { take } = withJobs(3);
    expect([take('t1'), take('t1'), take('t2')]).toEqual(['j1', 'j1', 'j2']);
  });
});

test('it is deterministic: the same verbs at the same instants come to the same', () => {
  const run = () => {
    const { scheduler, take } = withJobs(5, { rate: 3, burst: 2 });
    const found = [0, 1, 2, 3].map((i) => take(`t${i}`, i * 170_000));
    return { found, fair: scheduler.state.schedule.fair, level: scheduler.state.bucket('a').state };
  };
  expect(run()).toEqual(run());
});

describe('virtual now', () => {
  test.each([
    { title: 'follows the clock', raws: [5, 9, 40], nows: [5, 9, 40] },
    {
      title: 'goes on at its usual pace when the clock steps back',
      raws: [100, 60, 65, 80],
      nows: [100, 100, 105, 120],
    },
    { title: 'and again when it does so again', raws: [100, 60, 30, 35], nows: [100, 100, 100, 105] },
    { title: 'is the clock again once that has passed it', raws: [100, 60, 130, 131], nows: [100, 100, 130, 131] },
    { title: 'stands while the clock stands', raws: [7, 7, 7], nows: [7, 7, 7] },
  ])('$title', ({ raws, nows }) => {
    let clock = CLOCK_START;
    const seen = raws.map((raw) => {
      clock = readClock(clock, raw);
      return clock.nowUs;
    });
    expect(seen).toEqual(nows);
  });
});

test.each([
  { us: 0, whole: 0 },
  { us: 0.0001, whole: 1 },
  { us: 12, whole: 12 },
  { us: -7, whole: 0 },
  { us: 1e300, whole: 9e15 },
])('a wait of $us µs is told as $whole', ({ us, whole }) => {
  expect(wholeUs(us)).toBe(whole);
});
