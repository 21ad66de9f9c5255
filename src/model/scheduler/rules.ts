import {
  becomeBacklogged,
  chargeJob,
  etaUs,
  leftOfCharge,
  reRate,
  startableAtUs,
  startJob,
  unchargeJob,
  untilConformingUs,
} from '../bucket.js';
import { endBusyPeriod, finishTag, serve, startTag } from '../fair-queue.js';

/** Whether one more job may run under a cap. */
export function hasSlot(running: number, concurrency: number): boolean {
  return running < concurrency;
}

/**
 * The arithmetic that a scheduler goes by. It comes in as one value, so that a suite can put a wrong rule in its place and
 * show that it notices.
 */
export const RULES = {
  becomeBacklogged,
  startableAtUs,
  startJob,
  reRate,
  etaUs,
  untilConformingUs,
  chargeJob,
  unchargeJob,
  leftOfCharge,
  startTag,
  finishTag,
  serve,
  endBusyPeriod,
  hasSlot,
};

export type Rules = typeof RULES;
