import type { Limit, LimitAlgorithm } from '../model/limit.js';
import type { AppliedLimit } from './policer.js';

const LETTERS: Readonly<Record<LimitAlgorithm, string>> = {
  'token-bucket': 'b',
  'sliding-window-log': 'l',
  'sliding-window-counter': 'c',
};

/** A limit and what was last taken from it, as text: nearly all calls of a policy cost the same. */
const lastText = new WeakMap<Limit, { readonly cost: number; readonly text: string }>();

/** The limits of one call and what it takes from each, as `lua/check.lua` has them. */
export function callStatement(limits: readonly AppliedLimit[], cost: number, peek: boolean): string {
  const [only, another] = limits;
  const text = only && !another ? textOf(only.limit, cost) : limits.map(({ limit }) => textOf(limit, cost)).join(',');
  return peek ? `?${text}` : text;
}

function textOf(limit: Limit, cost: number): string {
  const last = lastText.get(limit);
  if (last?.cost === cost) return last.text;
  const text = [LETTERS[limit.algorithm], ...numbersOf(limit, cost)].join(' ');
  lastText.set(limit, { cost, text });
  return text;
}

/** What the call takes, what the limit holds, its interval. Units of windows are whole millionths, so that no sum drifts. */
function numbersOf(limit: Limit, cost: number): readonly number[] {
  if (limit.algorithm === 'token-bucket') {
    const intervalUs = 1e6 / limit.ratePerSecond;
    return [cost * intervalUs, limit.burst * intervalUs, intervalUs];
  }
  return [millionths(cost), millionths(limit.limit), Math.round(limit.windowMs * 1000)];
}

function millionths(units: number): number {
  return Math.max(1, Math.round(units * 1e6));
}
