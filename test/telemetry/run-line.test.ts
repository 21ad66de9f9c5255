import { Writable } from 'node:stream';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import type { Logger } from '../../src/telemetry/logger.js';
import { logRun, logUnseen, type SeenRun } from '../../src/telemetry/run-line.js';

/** What is logged, as a machine reads it. */
function linesBy(log: (log: Logger) => void): Record<string, unknown>[] {
  const lines: Record<string, unknown>[] = [];
  const sink = new Writable({
    write(line, _encoding, done) {
      lines.push(JSON.parse(String(line)));
      done();
    },
  });
  log(pino({ base: null, timestamp: false }, sink));
  return lines;
}

const job = { id: 'j1', type: 'ocr', tenant: 'acme', attempt: 2, requestId: 'r1' };

/** The lines that a run leaves. */
function linesOf(run: Partial<SeenRun>): Record<string, unknown>[] {
  const outcome = { kind: 'completed', value: '{"text":"what only the tenant may read"}' };
  const whole: SeenRun = { job, outcome, verdict: 'settled', waitMs: 1500, runMs: 20.4, ...run };
  return linesBy((log) => logRun(log, whole));
}

const INFO = 30;
const SAID = {
  level: INFO,
  job: 'j1',
  tenant: 'acme',
  type: 'ocr',
  attempt: 2,
  requestId: 'r1',
  waitMs: 1500,
  runMs: 20,
};

test('a completed run leaves one line with tenant, type, wait, run and outcome, and nothing of its result', () => {
  expect(linesOf({})).toEqual([{ ...SAID, outcome: 'completed', msg: 'job completed' }]);
});

describe('a run that came to something else leaves one line with the reason', () => {
  test.each([
    ['failed', 'job failed'],
    ['cancelled', 'job failed'],
    ['retry', 'job released'],
    ['busy', 'job released'],
    ['return', 'job released'],
  ])('%s', (kind, msg) => {
    const outcome = { kind, value: 'no such page' };
    expect(linesOf({ outcome })).toEqual([{ ...SAID, outcome: kind, reason: 'no such page', msg }]);
  });
});

test('of a run that was lost, its result is not told either', () => {
  expect(linesOf({ verdict: 'lost' })).toEqual([{ ...SAID, outcome: 'lost', msg: 'job released' }]);
});

test('of a run that was lost it is said that its outcome did not count', () => {
  expect(linesOf({ outcome: { kind: 'failed', value: 'late' }, verdict: 'lost' })).toEqual([
    { ...SAID, outcome: 'lost', reason: 'late', msg: 'job released' },
  ]);
});

describe('a job that ended while nobody had it leaves one line', () => {
  const lineOf = (ending: 'expired' | 'failed' | 'cancelled', reason: string, runMs: number | null) =>
    linesBy((log) => logUnseen(log, [{ job, ending, reason, waitMs: 1500, runMs }]));

  test('expired: it never ran', () => {
    const { runMs: _, ...waited } = SAID;
    expect(lineOf('expired', 'expired', null)).toEqual([{ ...waited, outcome: 'expired', msg: 'job expired' }]);
  });

  test('failed without ever having run: why', () => {
    const { runMs: _, ...waited } = SAID;
    const line = { ...waited, outcome: 'failed', reason: 'no worker', msg: 'job failed' };
    expect(lineOf('failed', 'no worker', null)).toEqual([line]);
  });

  test.each(['failed', 'cancelled'] as const)('%s, when its worker was gone: why', (ending) => {
    expect(lineOf(ending, 'stalled', 20)).toEqual([{ ...SAID, outcome: ending, reason: 'stalled', msg: 'job failed' }]);
  });
});
