import { type Limit, quotaOf, windowMsOf } from '../model/limit.js';
import type { Decision, LimitState } from '../policing/policing.js';

/** Structured fields (RFC 9651) hold integers of at most 15 digits. */
const LARGEST_INTEGER = 999_999_999_999_999;

/** The smallest cost of a call: what binary arithmetic takes from a whole number of units is less. */
const LEAST_UNITS = 1e-6;

/**
 * The headers that tell a caller what a policy decided, by lower-case name, in the terms of
 * draft-ietf-httpapi-ratelimit-headers:
 *
 * - `ratelimit-policy`: every limit of the decision. `q` is the burst, or the limit of a window, in whole units; `w` the
 *   seconds in which an untouched limit is whole again, rounded up.
 * - `ratelimit`: `r` is the whole units that would pass now, `t` the seconds to one more, rounded up; without `t` the
 *   limit is whole.
 * - `x-ratelimit-limit`, `x-ratelimit-remaining`: the same of the limit nearest to refusing, for old clients.
 * - `retry-after`: whole seconds, rounded up, where the call was refused and a later one passes.
 *
 * A header whose numbers nobody knows is absent: none are sent while Redis is away and nobody looks.
 */
export function policedHeaders(decision: Decision): Record<string, string> {
  const { allowed, limits, nearest, retryAfterMs } = decision;
  const known = limits.filter(isKnown);
  return {
    ...(known.length === 0 ? {} : { 'ratelimit-policy': list(known, quota), ratelimit: list(known, state) }),
    ...(nearest === undefined || !isKnown(nearest) ? {} : legacyHeaders(nearest)),
    ...(allowed || retryAfterMs === null ? {} : { 'retry-after': String(wholeSeconds(retryAfterMs)) }),
  };
}

function legacyHeaders({ limit, remaining }: LimitState): Record<string, string> {
  return {
    'x-ratelimit-limit': String(wholeUnits(quotaOf(limit))),
    'x-ratelimit-remaining': String(wholeUnits(remaining)),
  };
}

function list(limits: readonly LimitState[], written: (limit: LimitState) => string): string {
  return limits.map(written).join(', ');
}

function quota({ limit }: LimitState): string {
  const windowMs = windowMsOf(limit);
  const window = Number.isFinite(windowMs) ? `;w=${Math.max(1, wholeSeconds(windowMs))}` : '';
  return `${quoted(limit)};q=${wholeUnits(quotaOf(limit))}${window}`;
}

function state({ limit, remaining, nextUnitMs }: LimitState): string {
  const wait = nextUnitMs > 0 && Number.isFinite(nextUnitMs) ? `;t=${wholeSeconds(nextUnitMs)}` : '';
  return `${quoted(limit)};r=${wholeUnits(remaining)}${wait}`;
}

/** Whether structured fields can say what is known of a limit: its name in visible ASCII, its units as an integer. */
function isKnown({ limit, remaining }: LimitState): boolean {
  return /^[\x20-\x7e]+$/.test(limit.name) && isQuantity(quotaOf(limit)) && isQuantity(remaining);
}

function isQuantity(units: number): boolean {
  return units >= 0 && units <= LARGEST_INTEGER;
}

function quoted({ name }: Limit): string {
  return `"${name.replace(/["\\]/g, '\\$&')}"`;
}

function wholeUnits(units: number): number {
  return Math.floor(units + LEAST_UNITS);
}

function wholeSeconds(ms: number): number {
  return Math.min(Math.ceil(ms / 1000), LARGEST_INTEGER);
}
