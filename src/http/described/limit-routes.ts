import type { DescribedRoutes } from './described-route.js';

const STATE = {
  level: 0,
  waiting: 1,
  delayed: 0,
  running: 0,
  waitingCost: 2,
  waitingBytes: 11,
  nextStartMs: 0,
  share: { receivedPerSecond: 0, deservedPerSecond: 0 },
};
const TYPE_STATS = {
  type: 'ocr',
  capacity: { ratePerSecond: 20, burst: 20, concurrency: 4 },
  backloggedBuckets: 1,
  readyBuckets: 1,
  running: 0,
  servedPerSecond: 0,
  meanRunMs: null,
  scarceForMs: null,
};

/** What holds for a tenant, and how it is served. */
export const LIMIT_ROUTES: DescribedRoutes = {
  'GET /v1/types': {
    summary: 'The types that the tenant may use',
    description:
      'With the limit of a payload, the rule that gives a job its cost, and the schema of `data`. An admin’s key also sees how busy ' +
      'each type is, over all tenants.',
    answers: { 200: 'the types' },
    examples: {
      types: { status: 200, answer: { types: [{ type: 'ocr', maxPayloadBytes: 1048576, cost: {} }] } },
    },
  },
  'GET /v1/limits': {
    summary: 'What holds for the tenant',
    description:
      'Its effective profile per type, how much of it is taken, and how it is served. `null` says that there is no limit.',
    answers: { 200: 'the limits, one entry per type' },
    examples: {
      ocr: {
        query: { type: 'ocr' },
        status: 200,
        answer: {
          tenant: 'acme',
          limits: [
            {
              type: 'ocr',
              profile: {
                ratePerSecond: 10,
                burst: 5,
                jobRatePerSecond: 1,
                depth: 1000,
                maxBytes: 64_000_000,
                maxWaitMs: null,
                weight: 4,
                concurrency: 4,
              },
              freePlaces: 999,
              ...STATE,
            },
          ],
        },
      },
    },
  },
  'GET /v1/quote': {
    summary: 'When would jobs start',
    description: 'When so many jobs would start and end if they came now. Changes nothing, and reserves nothing.',
    answers: { 200: 'the first and the last start, and the end' },
    examples: {
      hundred: {
        query: { type: 'ocr', count: 100, cost: 1 },
        status: 200,
        answer: {
          type: 'ocr',
          tenant: 'acme',
          count: 100,
          priority: 4,
          cost: 1,
          startAt: '2026-11-30T12:00:02.000Z',
          startBetween: null,
          lastStartAt: '2026-11-30T12:00:11.900Z',
          lastStartBetween: null,
          basis: 'rate',
          endAt: null,
          freePlaces: 999,
        },
      },
    },
  },
  'GET /v1/stats': {
    summary: 'What all tenants do',
    description: 'Every type as a whole; with `type`, also its buckets, page by page, or with `tenant` that of one.',
    key: 'admin',
    answers: { 200: 'the types, and the buckets of the one that was asked for' },
    examples: {
      types: { status: 200, answer: { types: [TYPE_STATS] } },
      buckets: {
        query: { type: 'ocr', limit: 10 },
        status: 200,
        answer: { types: [TYPE_STATS], buckets: [{ tenant: 'acme', weight: 4, ...STATE }] },
      },
    },
  },
};
