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
  const headers: Record<string, string> = {};
  let [policies, states] = ['', ''];
  for (const each of limits) {
    const texts = textsOf(each.limit);
    if (texts === undefined || !isQuantity(each.remaining)) continue;
    const before = policies === '' ? '' : ', ';
    policies += before + texts.policy;
    states += before + texts.name + state(each);
  }
  if (policies !== '') {
    headers['ratelimit-policy'] = policies;
    headers.ratelimit = states;
  }
  const legacy = nearest && isQuantity(nearest.remaining) && textsOf(nearest.limit);
  if (legacy) {
    headers['x-ratelimit-limit'] = legacy.quota;
    headers['x-ratelimit-remaining'] = String(wholeUnits(nearest.remaining));
  }
  if (!allowed && retryAfterMs !== null) headers['retry-after'] = String(wholeSeconds(retryAfterMs));
  return headers;
}

/** What is always said of a limit. */
interface LimitTexts {
  readonly name: string;
  readonly policy: string;
  readonly quota: string;
}

/** Made once for each limit: to write them anew took half the time of a decision in the process. */
const written = new WeakMap<Limit, LimitTexts | null>();

/** `undefined` where structured fields cannot say it: the name not in visible ASCII, the units no integer of theirs. */
function textsOf(limit: Limit): LimitTexts | undefined {
  const known = written.get(limit);
  if (known !== undefined) return known ?? undefined;
  const quota = quotaOf(limit);
  const texts = /^[\x20-\x7e]+$/.test(limit.name) && isQuantity(quota) ? write(limit, wholeUnits(quota)) : null;
  written.set(limit, texts);
  return texts ?? undefined;
}

function write(limit: Limit, quota: number): LimitTexts {
  const name = `"${limit.name.replace(/["\\]/g, '\\$&')}"`;
  const windowMs = windowMsOf(limit);
  const window = Number.isFinite(windowMs) ? `;w=${Math.max(1, wholeSeconds(windowMs))}` : '';
  return { name, policy: `${name};q=${quota}${window}`, quota: String(quota) };
}

function state({ remaining, nextUnitMs }: LimitState): string {
  const wait = nextUnitMs > 0 && Number.isFinite(nextUnitMs) ? `;t=${wholeSeconds(nextUnitMs)}` : '';
  return `;r=${wholeUnits(remaining)}${wait}`;
}

function isQuantity(units: number): boolean {
  return units >= 0 && units <= LARGEST_INTEGER;
}

function wholeUnits(units: number): number {
  return Math.floor(units + LEAST_UNITS);
}

function wholeSeconds(ms: number): number {
  return Math.min(Math.ceil(ms / 1000), LARGEST_INTEGER);
}
