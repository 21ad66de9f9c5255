import { GATEWAY_KEY_HEADER } from './authenticate.js';
import type { Problem } from './problems.js';

/** Headers of an answer, by lower-case name. */
export type Headers = Readonly<Record<string, string>>;

/** Structured fields (RFC 9651) hold integers of at most 15 digits. */
const LARGEST_INTEGER = 999_999_999_999_999;

/** Whole seconds for `Retry-After`, rounded up: a caller who obeys is never early. */
export function retryAfterSeconds(waitMs: number): number {
  return Math.min(Math.ceil(waitMs / 1000), LARGEST_INTEGER);
}

/** The headers that go with a problem. */
export function problemHeaders(problem: Problem): Headers {
  const { code, retryAfterMs, allow } = problem;
  return {
    ...(typeof retryAfterMs === 'number' ? { 'retry-after': String(retryAfterSeconds(retryAfterMs)) } : {}),
    ...(allow === undefined ? {} : { allow: allow.join(', ') }),
    ...(code === 'missing_key' ? { 'www-authenticate': challenge(problem) } : {}),
    ...(code === 'invalid_key' ? { 'www-authenticate': `${challenge(problem)}, error="invalid_token"` } : {}),
  };
}

/** A gateway passes it on to its client, who must not take it for a demand of its own bearer token. */
function challenge({ field }: Problem): string {
  return `${field === GATEWAY_KEY_HEADER ? 'Headgate-Gateway-Key' : 'Bearer'} realm="headgate"`;
}

/**
 * How much room a bucket has, in the terms of draft-ietf-httpapi-ratelimit-headers: `q` is the depth, `r` the free
 * places, and there is no window. Where a number is not known or has no end, there is no header.
 *
 * @param retryAfterMs Time until the next place is free, where none is.
 */
export function roomHeaders(depth: number, freePlaces: number, retryAfterMs?: number | null): Headers {
  if (!isQuantity(depth) || !isQuantity(freePlaces)) return {};
  const wait = typeof retryAfterMs === 'number' && freePlaces === 0 ? `;t=${retryAfterSeconds(retryAfterMs)}` : '';
  return {
    'ratelimit-policy': `"depth";q=${depth}`,
    ratelimit: `"depth";r=${freePlaces}${wait}`,
    'x-ratelimit-limit': String(depth),
    'x-ratelimit-remaining': String(freePlaces),
  };
}

function isQuantity(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= LARGEST_INTEGER;
}
