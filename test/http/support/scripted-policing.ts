import type { Limit } from '../../../src/model/limit.js';
import type { Decision, LimitState, Policing, PolicingRequest } from '../../../src/policing/policing.js';

export const BURST: Limit = { algorithm: 'token-bucket', name: 'burst', per: 'key', ratePerSecond: 2, burst: 100 };
export const WINDOW: Limit = {
  algorithm: 'sliding-window-log',
  name: 'window',
  per: 'key',
  limit: 60,
  windowMs: 60_000,
};

/** What a policy says of one call; the rest is as if it conformed to nothing in particular. */
export type Verdict = Partial<Omit<Decision, 'giveBack'>>;

const STATES: readonly LimitState[] = [
  { limit: BURST, remaining: 9.25, nextUnitMs: 375.5 },
  { limit: WINDOW, remaining: 59, nextUnitMs: 60_000 },
];
const [NEAREST] = STATES;

/** Within every limit. */
export const CONFORMING: Verdict = { limits: STATES, ...(NEAREST === undefined ? {} : { nearest: NEAREST }) };

const EMPTY: LimitState = { limit: BURST, remaining: 0, nextUnitMs: 500 };
/** Above one limit, for a second and a half. */
export const LIMITED: Verdict = {
  allowed: false,
  outcome: 'limited',
  retryAfterMs: 1500,
  limits: [EMPTY],
  nearest: EMPTY,
};
/** Above what can ever pass. */
export const TOO_DEAR: Verdict = { allowed: false, outcome: 'cost_exceeds_max', retryAfterMs: null, max: 100 };
/** Redis is away, and the policy lets pass. */
export const OPEN: Verdict = { outcome: 'unknown', decidedBy: 'open' };
/** Redis is away, and the policy refuses. */
export const CLOSED: Verdict = { allowed: false, outcome: 'unknown', decidedBy: 'closed', retryAfterMs: 1200 };

/**
 * Not a policer: it answers what the test says, so that HTTP can be tested on decisions that are hard to bring about.
 * What policies decide is tested on Redis.
 */
export function scriptedPolicing(verdict: Verdict | ((request: PolicingRequest) => Verdict) = CONFORMING): {
  policing: Policing;
  /** What was asked. */
  asked: PolicingRequest[];
  /** What was given back. */
  givenBack: PolicingRequest[];
} {
  const asked: PolicingRequest[] = [];
  const givenBack: PolicingRequest[] = [];
  const policing: Policing = {
    has: (name) => ['api', 'pay', 'tight', 'watched'].includes(name),
    decide: async (request) => {
      asked.push(request);
      return {
        policy: request.policy,
        allowed: true,
        outcome: 'conforming',
        decidedBy: 'policer',
        enforced: true,
        retryAfterMs: 0,
        limits: [],
        ...(typeof verdict === 'function' ? verdict(request) : verdict),
        giveBack: async () => void givenBack.push(request),
      };
    },
    counts: () => [{ policy: 'api', outcome: 'conforming', decidedBy: 'policer', allowed: true, count: asked.length }],
    close: async () => undefined,
  };
  return { policing, asked, givenBack };
}
