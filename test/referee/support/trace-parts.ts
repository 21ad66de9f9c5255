import { writeFileSync } from 'node:fs';
import type { Contract, TypeContract } from '../contract.js';
import type { Guarantee } from '../judgement.js';
import type { StatedTerms, Trace } from '../trace.js';
import { throughIdealGate } from './ideal-gate.js';
import type { Recorded } from './recorded.js';
import type { Arrival, Retuning } from './scenario.js';
import { later } from './tampering.js';

/** A small job, a few milliseconds from everywhere. */
const USUAL: Arrival = {
  at: 0,
  tenant: 'acme',
  priority: 4,
  delayMs: 0,
  cost: 1,
  sendMs: 2,
  replyMs: 1,
  showMs: 4,
  workMs: 30,
  failures: 0,
  cancelAfterMs: null,
};

/** So many jobs, `everyMs` apart, all like `like`. */
export const jobs = (count: number, everyMs: number, like: Partial<Arrival> = {}): Arrival[] =>
  Array.from({ length: count }, (_, index) => ({ ...USUAL, ...like, at: (like.at ?? 0) + index * everyMs }));

/** A contract of one type, with these tenants' terms. */
export const contractOf = (
  buckets: Readonly<Record<string, StatedTerms>>,
  type: Omit<TypeContract, 'type'> = {},
): Contract => ({
  types: [{ type: 'ocr', ...type }],
  buckets: Object.entries(buckets).map(([tenant, terms]) => ({ type: 'ocr', tenant, ...terms })),
});

/** What a referee sees of an ideal gate under this contract. */
export const through = (contract: Contract, arrivals: readonly Arrival[], changes: readonly Retuning[] = []): Trace =>
  throughIdealGate({ contract, arrivals, changes });

/** Keeps a trace in `traces/`. */
export function record(name: string, breaks: Guarantee | null, about: string, contract: Contract, events: Trace): void {
  const recorded: Recorded = { about, breaks, contract, events };
  writeFileSync(new URL(`../traces/${name}.json`, import.meta.url), `${JSON.stringify(recorded, null, 2)}\n`);
}

/** A job that nobody promised anything, admitted at `admittedAt` and started at `startedAt`. */
export function uninvited(job: string, admittedAt: number, startedAt: number, workMs = 10): Trace {
  const who = { type: 'ocr', tenant: 'acme' };
  const body = {
    id: job,
    state: 'waiting',
    releaseAt: later('2026-01-01T00:00:00.000Z', startedAt),
    waitMs: startedAt - admittedAt,
    basis: 'capacity',
  };
  const times = { sentAt: admittedAt - 2, answeredAt: admittedAt + 1 };
  return [
    { kind: 'admission', ...who, priority: 9, delayMs: 0, cost: 1, ...times, status: 202, body },
    { kind: 'start', at: startedAt, run: 1000, job, ...who, cost: 1, attempt: 1 },
    { kind: 'end', at: startedAt + workMs, run: 1000, outcome: 'ok' },
    { kind: 'sight', sentAt: 9000, answeredAt: 9001, job, status: 200, state: 'completed' },
  ];
}
