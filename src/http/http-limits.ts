import { type ConnectionFields, DEFAULT_CONNECTIONS } from '../config/connection-schema.js';
import type { SeatLimits } from './seats.js';

/** What one caller may take of the server before it has proven anything. Bytes, milliseconds and counts. */
export interface HttpLimits {
  /** Request line and headers together. */
  readonly headerBytes: number;
  readonly headerCount: number;
  /** Until the headers are complete. */
  readonly headersTimeoutMs: number;
  /** Until the body is complete. */
  readonly requestTimeoutMs: number;
  /** How often connections are looked at for the two above: they are exceeded by at most this. */
  readonly timeoutCheckMs: number;
  /** Between two requests of one connection; longer than the minute that load balancers keep theirs. */
  readonly keepAliveTimeoutMs: number;
  /** Body of a batch. A single job may be as large as the largest payload of any type, and its envelope. */
  readonly batchBytes: number;
  /** Requests that wait for the end of a job at once. */
  readonly waits: SeatLimits;
  /** Claims of workers that wait for a job at once; those with the same key are one tenant here. */
  readonly claims: SeatLimits;
  /** Streams of events open at once. */
  readonly streams: SeatLimits;
  /** A stream is silent for at most so long: proxies close what is silent for a minute, some after half of that. */
  readonly heartbeatMs: number;
  /** Who takes nothing of a stream for so long will not take anything any more. */
  readonly stuckMs: number;
}

/** What the configuration says of callers who stay connected. */
export function connectionLimits({
  waits,
  streams,
  claims: { perKey, total },
}: ConnectionFields): Pick<HttpLimits, 'waits' | 'streams' | 'claims'> {
  return { waits, streams, claims: { perTenant: perKey, total } };
}

export const DEFAULT_HTTP_LIMITS: HttpLimits = {
  headerBytes: 16 * 1024,
  headerCount: 100,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  timeoutCheckMs: 1000,
  keepAliveTimeoutMs: 72_000,
  batchBytes: 8 * 1024 * 1024,
  ...connectionLimits(DEFAULT_CONNECTIONS),
  heartbeatMs: 15_000,
  stuckMs: 30_000,
};

/** What surrounds `data` in the body of a single job, and `key` in a question to a policy. */
export const ENVELOPE_BYTES = 16 * 1024;

/** What a run may come to, and output of it that is sent at once, in bytes of JSON. */
export const RESULT_BYTES = 1024 * 1024;

/** Body of one question to a policy: a key of a megabyte, and what surrounds it. */
export const CHECK_BYTES = 1024 * 1024 + ENVELOPE_BYTES;
