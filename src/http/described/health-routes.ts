import type { DescribedRoutes } from './described-route.js';

/** What needs no key. */
export const HEALTH_ROUTES: DescribedRoutes = {
  'GET /': {
    summary: 'What this is',
    description: 'Where to go on from here.',
    key: 'none',
    answers: { 200: 'the service and its first addresses' },
    examples: {
      welcome: {
        status: 200,
        answer: { service: 'headgate', api: '/v1', health: '/healthz', ready: '/readyz' },
      },
    },
  },
  'GET /healthz': {
    summary: 'Alive',
    description: 'Answers as long as the process does, whatever the state of Redis.',
    key: 'none',
    answers: { 200: 'the process is alive' },
    examples: { alive: { status: 200, answer: { status: 'alive' } } },
  },
  'GET /readyz': {
    summary: 'Ready to serve',
    description:
      'Whether this process can answer what it serves. `degraded`: some of it, such as the policies that decide without Redis. ' +
      '503 is for load balancers.',
    key: 'none',
    answers: { 200: 'requests may come' },
    examples: { ready: { status: 200, answer: { status: 'ready', checks: { redis: 'answers' } } } },
  },
};
