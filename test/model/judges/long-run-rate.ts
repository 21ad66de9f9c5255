import { EMPTY_BUCKET, type Pace } from '../../../src/model/bucket.js';
import { RULES, type Rules } from '../../../src/model/scheduler/rules.js';

/** Jobs that leave one bucket under constant backlog. */
export interface Departure {
  readonly pace: Pace;
  readonly costs: readonly number[];
  /** How late the i-th job starts after it may. */
  readonly lateUs: (i: number) => number;
  readonly beginUs: number;
}

/** Units and jobs per second at which they leave. */
export function departureRate({ pace, costs, lateUs, beginUs }: Departure, rules: Rules = RULES) {
  let state = rules.becomeBacklogged(EMPTY_BUCKET, beginUs);
  let units = 0;
  for (const [i, cost] of costs.entries()) {
    const nowUs = Math.max(beginUs, rules.startableAtUs(state, pace)) + lateUs(i);
    state = rules.startJob(state, pace, cost, nowUs);
    units += cost;
  }
  const seconds = (rules.startableAtUs(state, pace) - beginUs) / 1e6;
  return { unitsPerSecond: units / seconds, jobsPerSecond: costs.length / seconds };
}
