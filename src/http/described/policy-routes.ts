import type { DescribedRoutes } from './described-route.js';

/** Questions to policies. */
export const POLICY_ROUTES: DescribedRoutes = {
  'POST /v1/check': {
    summary: 'Ask a policy',
    description:
      'May this call go on? `key` says whose calls count together within the tenant. What may not go on is answered 429 with the time ' +
      'after which it may.',
    answers: { 200: 'the call may go on' },
    examples: {
      conforming: {
        body: { policy: 'api', key: 'user-7', cost: 1 },
        status: 200,
        answer: {
          policy: 'api',
          allowed: true,
          outcome: 'conforming',
          decidedBy: 'policer',
          enforced: true,
          limit: 100,
          remaining: 99,
          resetMs: 500,
          retryAfterMs: 0,
          limits: [{ name: 'burst', limit: 100, remaining: 99, resetMs: 500 }],
        },
      },
      tooDear: {
        body: { policy: 'api', cost: 101 },
        status: 422,
        answer: {
          type: 'urn:headgate:problem:cost_exceeds_max',
          title: 'The cost is more than can ever pass',
          status: 422,
          code: 'cost_exceeds_max',
          field: 'cost',
          detail: '`cost` gives a cost above 100, the most that the policy "api" can ever let through.',
          policy: 'api',
          allowed: false,
          outcome: 'cost_exceeds_max',
          decidedBy: 'policer',
          enforced: true,
          max: 100,
        },
      },
    },
  },
  'GET /v1/policies': {
    summary: 'List the policies',
    description: 'What callers are held to, and what this process has decided by it.',
    key: 'admin',
    answers: { 200: 'all policies' },
    examples: {
      policies: {
        status: 200,
        answer: {
          policies: [
            {
              policy: 'api',
              place: 'redis',
              onOutage: 'open',
              enforce: true,
              limits: [{ name: 'burst', per: 'key', algorithm: 'token-bucket', limit: 100, ratePerSecond: 2 }],
              byTier: {},
              decisions: [],
            },
          ],
        },
      },
    },
  },
  'ANY /v1/forward-auth': {
    summary: 'Let a gateway ask',
    description:
      'Whether a gateway should let a request of its client through: by the policy in the query, or by the table of routes and the ' +
      'original method and address. Answered by any method, before the body. The gateway shows a key of its own.',
    key: 'gateway',
    headers: ['X-Headgate-Subject', 'X-Headgate-Tier', 'X-Original-Method', 'X-Original-URI'],
    answers: { 200: 'let it through' },
    examples: {
      byPolicy: {
        query: { policy: 'api', cost: 1, deny: '403' },
        headers: { 'X-Headgate-Subject': 'user-7', 'X-Headgate-Tier': 'pro' },
        status: 200,
      },
      byRoute: { headers: { 'X-Original-Method': 'GET', 'X-Original-URI': '/reports/7?page=2' }, status: 200 },
    },
  },
};
