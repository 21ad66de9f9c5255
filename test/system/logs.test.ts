import { afterAll, beforeAll, expect, it } from 'vitest';
import { textField } from '../referee/json-field.js';
import type { HeadgateProcess } from '../support/headgate-process.js';
import { ADMIN_KEY, type RefereedSystem, refereedSystem } from './support/refereed-system.js';

const SECRET = 'what-only-the-tenant-may-read';
const REQUEST_ID = 'trace-7f3a';

let system: RefereedSystem;
let headgate: HeadgateProcess;

beforeAll(async () => {
  system = await refereedSystem(
    { types: { a: { attempts: 1 } }, tiers: { only: { rate: 'unlimited' } }, defaultTier: 'only' },
    { types: [{ type: 'a' }], buckets: [], otherwise: { ratePerSecond: null } },
  );
  headgate = await system.folder.start('start');
});
afterAll(async () => system?.end());

async function ended(data: object): Promise<unknown> {
  const response = await fetch(`${headgate.url}/v1/jobs`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${ADMIN_KEY}`,
      'content-type': 'application/json',
      'x-request-id': REQUEST_ID,
      prefer: 'wait=60',
    },
    body: JSON.stringify({ type: 'a', tenant: 'acme', data: { ...data, note: SECRET } }),
  });
  return response.json();
}

it('each job leaves one line at its end, under the id of the request that posted it', async () => {
  const jobs = [await ended({}), await ended({ fail: true })];
  expect(jobs).toMatchObject([{ state: 'completed' }, { state: 'failed' }]);
  const ofEnds = () => [...headgate.said('job completed'), ...headgate.said('job failed')];
  await headgate.until(() => ofEnds().length >= 2, 'both ends were logged');
  expect(ofEnds()).toMatchObject(
    ['completed', 'failed'].map((outcome, i) => ({
      level: 30,
      ...{ job: textField(jobs[i], 'id'), tenant: 'acme', type: 'a', attempt: 1, outcome, requestId: REQUEST_ID },
      ...{ waitMs: expect.any(Number), runMs: expect.any(Number) },
    })),
  );
  await system.referee.expectNoViolations();
});

it('no line holds a key, a payload or a result', () => {
  const log = headgate.lines.join('\n');
  expect(log).toContain(REQUEST_ID);
  for (const hidden of [SECRET, ADMIN_KEY, '"run":']) expect(log).not.toContain(hidden);
});
