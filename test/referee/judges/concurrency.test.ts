import { expect, it } from 'vitest';
import { DEFAULT_TOLERANCES } from '../contract.js';
import { openCase } from '../open-case.js';
import type { Trace } from '../trace.js';
import { judgeConcurrency } from './concurrency.js';

const CONTRACT = { types: [{ type: 'ocr', capacity: { concurrency: 1 } }], buckets: [{ type: 'ocr', tenant: 'acme' }] };
const WHO = { type: 'ocr', tenant: 'acme', cost: 1 };

type Outcome = 'ok' | 'failed';
const admitted = (id: string): Trace[number] => ({
  ...{ kind: 'admission', ...WHO, priority: 4, delayMs: 0, status: 202, body: { id } },
  ...{ sentAt: 0, answeredAt: 1 },
});
const run = (number: number, job: string, from: number, to: number, outcome: Outcome, attempt = 1): Trace => [
  { kind: 'start', ...WHO, at: from, run: number, job, attempt },
  { kind: 'end', at: to, run: number, outcome },
];
const seen = (job: string, state: string): Trace[number] => ({
  ...{ kind: 'sight', job, status: 200, state },
  ...{ sentAt: 5000, answeredAt: 5001 },
});

/** A job `a` that runs from 100 to 1000, as far as its handler says, and a job `b` in the midst of that. */
const traceWith = (outcome: Outcome, ...more: Trace[number][]): Trace => [
  ...[admitted('a'), admitted('b')],
  ...run(1, 'a', 100, 1000, outcome),
  ...run(2, 'b', 500, 600, 'ok'),
  ...more,
];
const judged = (trace: Trace) => judgeConcurrency(openCase(trace, CONTRACT, DEFAULT_TOLERANCES)).violations.length;

it.each<[what: string, trace: Trace, violations: number]>([
  ['two runs at once', traceWith('ok'), 1],
  ['one whose job was completed by it', traceWith('ok', seen('a', 'completed')), 1],
  ['one that failed and was tried again', traceWith('failed', ...run(3, 'a', 2000, 2100, 'ok', 2)), 1],
  ['one whose job ran again all the same: its lock was lost', traceWith('ok', ...run(3, 'a', 2000, 2100, 'ok')), 0],
  ['one that failed, but not as an attempt', traceWith('failed', ...run(3, 'a', 2000, 2100, 'ok')), 0],
  ['one of a job that no answer named', traceWith('ok').slice(1), 1],
  ['one of such a job, which ran again', traceWith('ok', ...run(3, 'a', 2000, 2100, 'ok')).slice(1), 0],
  ['one whose job ended otherwise', traceWith('ok', seen('a', 'failed')), 0],
])('beside %s another one is judged so', (_, trace, violations) => {
  expect(judged(trace)).toBe(violations);
});
