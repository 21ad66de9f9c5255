import { describe, expect, test } from 'vitest';
import type { Quote, QuotedJobs } from '../../src/shaping/shaping.js';
import { scriptedShaping } from './support/scripted-shaping.js';
import { as, problemIn, testApp } from './support/test-app.js';

const AT = Date.UTC(2026, 10, 30, 12);
const QUOTE: Quote = {
  verdict: 'quoted',
  first: { releaseAtMs: AT, basis: 'rate', releaseBetweenMs: null },
  last: { releaseAtMs: AT + 9000, basis: 'capacity', releaseBetweenMs: [AT + 8000, AT + 12_000] },
  meanRunMs: 1500,
  depth: 50,
  freePlaces: 40,
};

async function appQuoting(quote: Quote = QUOTE) {
  const asked: [type: string, tenant: string, jobs: QuotedJobs][] = [];
  const { shaping } = scriptedShaping({
    quote: async (...question) => {
      asked.push(question);
      return quote;
    },
  });
  return { app: (await testApp({ shaping })).app, asked };
}

describe('GET /v1/quote', () => {
  test('says when the first and the last of the jobs would start, on what that rests, and when they would end', async () => {
    const { app, asked } = await appQuoting();
    const response = await app.inject(as('acme', { url: '/v1/quote?type=llm&count=10&priority=2&cost=7' }));
    expect(asked).toEqual([['llm', 'acme', { count: 10, priority: 2, cost: 7 }]]);
    expect(response.json()).toEqual({
      ...{ type: 'llm', tenant: 'acme', count: 10, priority: 2, cost: 7, freePlaces: 40 },
      startAt: '2026-11-30T12:00:00.000Z',
      startBetween: null,
      lastStartAt: '2026-11-30T12:00:09.000Z',
      lastStartBetween: ['2026-11-30T12:00:08.000Z', '2026-11-30T12:00:12.000Z'],
      basis: 'capacity',
      endAt: '2026-11-30T12:00:10.500Z',
    });
    expect(response.headers).toMatchObject({ ratelimit: '"depth";r=40', 'ratelimit-policy': '"depth";q=50' });
  });

  test('is null where nobody can say', async () => {
    const never = { releaseAtMs: Infinity, basis: 'capacity', releaseBetweenMs: null } as const;
    const { app } = await appQuoting({ ...QUOTE, first: never, last: never, meanRunMs: null });
    const answer = (await app.inject(as('acme', { url: '/v1/quote?type=chat' }))).json();
    expect(answer).toMatchObject({ startAt: null, lastStartAt: null, endAt: null, basis: 'capacity' });
    const { app: unmeasured } = await appQuoting({ ...QUOTE, meanRunMs: null });
    expect((await unmeasured.inject(as('acme', { url: '/v1/quote?type=chat' }))).json()).toMatchObject({ endAt: null });
  });

  test.each([
    { title: 'the only one there is', query: 'type=chat', cost: 1 },
    { title: 'the default of a rule by the payload', query: 'type=ocr', cost: 1 },
    { title: 'what it will be by the payload', query: 'type=ocr&cost=12.5', cost: 12.5 },
    { title: 'at least the least of the rule', query: 'type=ocr&cost=0.5', cost: 1 },
    { title: 'the default of a rule by the request', query: 'type=llm', cost: 10 },
  ])('takes for the cost $title', async ({ query, cost }) => {
    const { app, asked } = await appQuoting();
    expect((await app.inject(as('acme', { url: `/v1/quote?${query}` }))).statusCode).toBe(200);
    expect(asked.map(([, , jobs]) => jobs)).toEqual([{ count: 1, priority: 4, cost }]);
  });

  test.each([
    { query: '', status: 400, field: 'type' },
    { query: 'type=nope', status: 400, field: 'type' },
    { query: 'type=chat&count=0', status: 400, field: 'count' },
    { query: 'type=chat&count=1001', status: 400, field: 'count' },
    { query: 'type=chat&count=1e2', status: 400, field: 'count' },
    { query: 'type=chat&count=-1', status: 400, field: 'count' },
    { query: 'type=chat&priority=10', status: 400, field: 'priority' },
    { query: 'type=chat&cost=2', status: 400, field: 'cost' },
    { query: 'type=ocr&cost=501', status: 422, field: 'cost' },
    { query: 'type=llm&cost=0', status: 400, field: 'cost' },
    { query: 'type=llm&cost=NaN', status: 400, field: 'cost' },
    { query: 'type=chat&type=chat', status: 400, field: 'type' },
    { query: 'type=chat&delayMs=5', status: 400, field: 'delayMs' },
    { query: 'type=chat&tenant=small', status: 403, field: 'tenant' },
  ])('$query is answered $status and names $field', async ({ query, status, field }) => {
    const { app, asked } = await appQuoting();
    expect(problemIn(await app.inject(as('acme', { url: `/v1/quote?${query}` })))).toMatchObject({ status, field });
    expect(asked).toEqual([]);
  });

  test('an admin names the tenant; one that may not use the type is told so', async () => {
    const { app, asked } = await appQuoting();
    expect(problemIn(await app.inject(as('admin', { url: '/v1/quote?type=chat' })))).toMatchObject({ field: 'tenant' });
    const small = await app.inject(as('admin', { url: '/v1/quote?type=ocr&tenant=small' }));
    expect(problemIn(small)).toMatchObject({ status: 403, code: 'type_forbidden' });
    expect((await app.inject(as('admin', { url: '/v1/quote?type=chat&tenant=small' }))).statusCode).toBe(200);
    expect(asked.map(([, tenant]) => tenant)).toEqual(['small']);
  });

  test('a cost above the burst of a policed bucket can never pass', async () => {
    const { app } = await appQuoting({ verdict: 'cost_exceeds_max', max: 5 });
    const problem = problemIn(await app.inject(as('acme', { url: '/v1/quote?type=llm&cost=6' })));
    expect(problem).toMatchObject({ status: 422, code: 'cost_exceeds_max', field: 'cost', max: 5 });
  });
});
