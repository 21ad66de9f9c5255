import { describe, expect, test } from 'vitest';
import type { Rejection } from '../../src/model/verdict.js';
import { scriptedShaping } from './support/scripted-shaping.js';
import { post, problemIn, testApp } from './support/test-app.js';

/** The answer to a job that its policed bucket does not let in. */
async function answerTo(rejection: Rejection, body: object, path?: string) {
  const { shaping } = scriptedShaping({
    admit: async (_type, _tenant, jobs) => ({ admissions: jobs.map(() => rejection), depth: 50, freePlaces: 7 }),
  });
  const { app } = await testApp({ shaping });
  const request = post(body);
  const response = await app.inject(path === undefined ? request : { ...request, url: path });
  await app.close();
  return response;
}

describe('a job above the rate of a policed bucket', () => {
  test('is answered 429, and told when it will pass', async () => {
    const response = await answerTo(
      { verdict: 'rejected', reason: 'rate_limited', retryAfterMs: 1200 },
      { type: 'chat', data: {} },
    );
    expect(problemIn(response)).toMatchObject({ status: 429, code: 'rate_limited', retryAfterMs: 1200 });
    expect(response.headers['retry-after']).toBe('2');
  });

  test('is told no time where nobody knows one', async () => {
    const response = await answerTo(
      { verdict: 'rejected', reason: 'rate_limited', retryAfterMs: null },
      { type: 'chat', data: {} },
    );
    expect(problemIn(response)).toMatchObject({ status: 429, code: 'rate_limited', retryAfterMs: null });
    expect(response.headers).not.toHaveProperty('retry-after');
  });
});

describe('a job that costs more than a policed bucket may hold', () => {
  const tooMuch = { verdict: 'rejected', reason: 'cost_exceeds_max', max: 20 } as const;

  test.each([
    { body: { type: 'ocr', data: { pages: 30 } }, field: 'data.pages' },
    { body: { type: 'llm', data: {}, cost: 30 }, field: 'cost' },
    { body: { type: 'chat', data: {} }, field: 'type' },
  ])('is answered 422, for good, and $field is named', async ({ body, field }) => {
    const response = await answerTo(tooMuch, body);
    expect(problemIn(response)).toMatchObject({ status: 422, code: 'cost_exceeds_max', field, max: 20 });
    expect(response.headers).not.toHaveProperty('retry-after');
  });

  test('is named by its place in a batch', async () => {
    const body = { jobs: [{ type: 'ocr', data: { pages: 30 } }] };
    const response = await answerTo(tooMuch, body, '/v1/jobs/batch');
    expect(response.statusCode).toBe(200);
    expect(response.json().jobs[0].problem).toMatchObject({ code: 'cost_exceeds_max', field: 'jobs[0].data.pages' });
  });
});
