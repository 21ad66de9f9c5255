/** Something that left a bucket. */
export interface Passage {
  readonly at: number;
  readonly amount: number;
}

/** How a bucket leaks from `from` on, until the next leak. */
export interface Leak {
  readonly from: number;
  readonly ratePerSecond: number;
  readonly burst: number;
  readonly slackMs: number;
}

/** A window in which too much left. */
export interface Window {
  readonly from: number;
  readonly to: number;
  readonly amount: number;
  readonly allowed: number;
  /** How many passages were too early, counting each once. */
  readonly breaches: number;
}

/** Rounding of doubles, in units. */
const EPSILON = 1e-6;

/**
 * The window with the greatest excess over `burst − 1 + last + ∫rate dt + rate·(slack + tolerance)`; `undefined` when every
 * window keeps it. `passages` in the order of their instants, `leaks` too.
 *
 * With P the sum of amounts before a passage and R = ∫rate dt, the excess of a window from i to j is
 * `(P_j + amount_j − R_j) + (R_i − P_i) − burst + 1 − last − …`: the best i for each j is a running maximum of `R_i − P_i`,
 * kept once for every leak, as the slack depends on the leaks spanned. So it takes O(passages × leaks).
 */
export function worstWindow(
  passages: readonly Passage[],
  leaks: readonly Leak[],
  toleranceMs: number,
): Window | undefined {
  const origin = passages[0]?.at ?? 0;
  const candidates: { best: number; at: number; before: number; leaked: number; allowance: number }[] = [];
  const near = new NearMaximum(toleranceMs);
  let leakIndex = 0;
  let leakedBefore = 0;
  let sum = 0;
  let breaches = 0;
  let worst: (Omit<Window, 'breaches'> & { excess: number }) | undefined;
  const open = (leak: Leak) => {
    if (leak.ratePerSecond === Infinity) candidates.length = 0;
    const allowance = (leak.ratePerSecond * (leak.slackMs + toleranceMs)) / 1000;
    for (const candidate of candidates) candidate.allowance = Math.max(candidate.allowance, allowance);
    candidates.push({ best: -Infinity, at: 0, before: 0, leaked: 0, allowance });
  };
  const first = leaks[0];
  if (first !== undefined) open(first);
  for (const { at, amount } of passages) {
    for (let next = leaks[leakIndex + 1]; next !== undefined && next.from <= at; next = leaks[leakIndex + 1]) {
      leakedBefore = leakedUntil(next.from);
      leakIndex += 1;
      open(next);
    }
    const leak = leaks[leakIndex];
    const last = near.with(at, amount);
    if (leak !== undefined && leak.ratePerSecond !== Infinity) {
      const leaked = leakedUntil(at);
      const fixed = leak.burst - 1 + last;
      let early = false;
      for (const { best, at: from, before, leaked: leakedFrom, allowance } of candidates) {
        const excess = sum + amount - leaked + best - fixed - allowance;
        if (!(excess > EPSILON)) continue;
        early = true;
        if (worst !== undefined && excess <= worst.excess) continue;
        const allowed = fixed + leaked - leakedFrom + allowance;
        worst = { from, to: at, amount: sum + amount - before, allowed, excess };
      }
      if (early) breaches += 1;
      const current = candidates.at(-1);
      if (current !== undefined && leaked - sum > current.best) {
        Object.assign(current, { best: leaked - sum, at, before: sum, leaked });
      }
    }
    sum += amount;
  }
  if (worst === undefined) return undefined;
  const { excess: _, ...window } = worst;
  return { ...window, breaches };

  /** Units leaked from the first passage to `at`, which lies in the current leak. */
  function leakedUntil(at: number): number {
    const leak = leaks[leakIndex];
    if (leak === undefined || leak.ratePerSecond === Infinity) return leakedBefore;
    const from = Math.max(leak.from, origin);
    return at > from ? leakedBefore + (leak.ratePerSecond * (at - from)) / 1000 : leakedBefore;
  }
}

/** The largest amount of those that came within the tolerance before an instant: any of them may have been the last. */
class NearMaximum {
  readonly #toleranceMs: number;
  /** Instants rising, amounts falling. */
  readonly #queue: Passage[] = [];
  #head = 0;

  constructor(toleranceMs: number) {
    this.#toleranceMs = toleranceMs;
  }

  with(at: number, amount: number): number {
    while (this.#queue.length > this.#head && (this.#queue.at(-1)?.amount ?? 0) <= amount) this.#queue.pop();
    this.#queue.push({ at, amount });
    while ((this.#queue[this.#head]?.at ?? at) < at - this.#toleranceMs) this.#head += 1;
    return this.#queue[this.#head]?.amount ?? amount;
  }
}
