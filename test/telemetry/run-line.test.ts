import { Writable } from 'node:stream';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { logRun, type SeenRun } from '../../src/telemetry/run-line.js';

/** The lines that a run leaves, as a machine reads them. */
function linesOf(run: Partial<SeenRun>): Record<string, unknown>[] {
  const lines: Record<string, unknown>[] = [];
  const sink = new Writable({
    write(line, _encoding, done) {
      lines.push(JSON.parse(String(line)));
      done();
    },
  });
  const job = { id: 'j1', type: 'ocr', tenant: 'acme', attempt: 2, requestId: 'r1' };
  const outcome = { kind: 'completed', value: '{"text":"what only the tenant may read"}' };
  logRun(pino({ base: null, timestamp: false }, sink), {
    ...{ job, outcome, verdict: 'settled', waitMs: 1500, runMs: 20.4 },
    ...run,
  });
  return lines;
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
