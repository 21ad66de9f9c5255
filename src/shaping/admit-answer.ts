import type { WaitRange } from '../model/service.js';
import { asInteger, asList, asNumber, asText, asWord } from '../redis/reply.js';
import { orNull } from './dispatched.js';
import { waitRangeOf } from './wait-range.js';

/** Why the door stayed shut. */
const REFUSALS = [
  'cost_exceeds_max',
  'rate_limited',
  'bucket_full',
  'wait_too_long',
  'deadline_unreachable',
  'deadline_past',
  'idempotency_mismatch',
  'door_closed',
] as const;

/** What the script said of one job at the door; waits in µs. */
export type AdmitVerdict =
  | {
      readonly kind: 'admitted';
      readonly id: string;
      readonly state: 'waiting' | 'delayed';
      readonly position: number;
      readonly waitUs: number;
      readonly basis: 'rate' | 'capacity' | 'delay';
      readonly between: WaitRange | null;
    }
  | { readonly kind: 'replayed'; readonly id: string }
  | {
      readonly kind: 'rejected';
      readonly reason: (typeof REFUSALS)[number];
      readonly limit: string;
      readonly retryUs: number | null;
      readonly waitUs: number;
    };

/** What the script said of the jobs of one request; `failed` where Redis would not take it. */
export type AdmitAnswer = AdmitAnswered | { readonly kind: 'failed'; readonly message: string };

/** The verdicts on the jobs of one request, in their order, and what room there is behind them. */
export interface AdmitAnswered {
  readonly kind: 'answered';
  /** The clock of Redis at that moment. */
  readonly unixMs: number;
  readonly depth: number;
  readonly freePlaces: number;
  readonly verdicts: readonly AdmitVerdict[];
}

/** Reads the answer to one request. */
export function parseAdmitAnswer(raw: unknown): AdmitAnswer {
  const [kind, first, depth, free, verdicts] = asList(raw);
  if (asWord(kind, ['answered', 'failed']) === 'failed') return { kind: 'failed', message: asText(first) };
  return {
    kind: 'answered',
    unixMs: asNumber(first),
    depth: asInteger(depth),
    freePlaces: asInteger(free),
    verdicts: asList(verdicts).map(parseVerdict),
  };
}

function parseVerdict(raw: unknown): AdmitVerdict {
  const [kind, first, second, third, fourth, basis, earliest, latest] = asList(raw);
  switch (asWord(kind, ['admitted', 'replayed', 'rejected'])) {
    case 'admitted':
      return {
        kind: 'admitted',
        id: asText(first),
        state: asWord(second, ['waiting', 'delayed']),
        position: asInteger(third),
        waitUs: asInteger(fourth),
        basis: asWord(basis, ['rate', 'capacity', 'delay']),
        between: waitRangeOf(earliest, latest),
      };
    case 'replayed':
      return { kind: 'replayed', id: asText(first) };
    case 'rejected':
      return {
        kind: 'rejected',
        reason: asWord(first, REFUSALS),
        limit: asText(second),
        retryUs: orNull(asInteger(third)),
        waitUs: asInteger(fourth),
      };
  }
}
