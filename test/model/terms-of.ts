import { emissionUs, type Mode, slackUs } from '../../src/model/profile.js';
import type { BucketTerms } from '../../src/model/scheduler/terms.js';

/** What a bucket is entitled to, by what matters to a test; everything else is unlimited, rates in units per second. */
export interface Stated {
  readonly rate?: number;
  readonly jobRate?: number;
  readonly burst?: number;
  readonly weight?: number;
  readonly concurrency?: number;
  readonly slackUs?: number;
  readonly mode?: Mode;
}

export function termsOf(stated: Stated): BucketTerms {
  const { rate = Infinity, jobRate = Infinity, burst = 1, weight = 1, concurrency = 1e15, mode = 'shape' } = stated;
  const pace = { emissionUs: emissionUs(rate), jobEmissionUs: emissionUs(jobRate), burst };
  const slack = slackUs(Math.max(pace.emissionUs, pace.jobEmissionUs), stated.slackUs);
  return { pace: { ...pace, slackUs: slack }, weight, concurrency, depth: 1e15, maxBytes: 1e15, maxWaitUs: 1e18, mode };
}
