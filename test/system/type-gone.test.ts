import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { textField } from '../referee/json-field.js';
import type { HeadgateProcess } from '../support/headgate-process.js';
import { ADMIN_KEY, type RefereedSystem, refereedSystem } from './support/refereed-system.js';

const TENANT = 'odd';

let system: RefereedSystem;
let headgate: HeadgateProcess;

beforeAll(async () => {
  system = await refereedSystem(
    {
      forsakenAfter: '20s',
      types: { good: {}, gone: { handler: 'echo', options: {} } },
      tiers: { only: { rate: 'unlimited' } },
      defaultTier: 'only',
    },
    { types: [{ type: 'good', slots: 10 }], buckets: [], otherwise: { ratePerSecond: null } },
    { arrivalMs: 1500 },
  );
  headgate = await system.folder.start('start');
});
afterAll(async () => system?.end());

async function ask(method: string, path: string, body?: object): Promise<unknown> {
  const headers = { authorization: `Bearer ${ADMIN_KEY}`, ...(body && { 'content-type': 'application/json' }) };
  const answer = await fetch(`${headgate.url}${path}`, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
  return answer.json();
}
const look = (id: string) => ask('GET', `/v1/jobs/${id}?tenant=${TENANT}`);

it('jobs of a type that was taken from the file fail with a reason, and those of other types go their way', async () => {
  const job = { type: 'gone', tenant: TENANT, data: {} };
  const id = textField(await ask('POST', '/v1/jobs', { ...job, delayMs: 3_600_000 }), 'id') ?? '';
  expect(await headgate.stop()).toMatchObject({ code: 0 });
  const { types, ...rest } = JSON.parse(await readFile(system.folder.configFile, 'utf8'));
  await system.folder.configure({ ...rest, types: { good: types.good } });
  headgate = await system.folder.start('start');

  expect(await look(id)).toMatchObject({ state: 'delayed', type: 'gone' });
  const witness = system.witness(headgate.url);
  await witness.enqueueBatch(
    'beside',
    Array.from({ length: 20 }, () => ({ type: 'good', cost: 1, data: {} })),
  );
  await witness.followToEnds();
  await expect.poll(async () => textField(await look(id), 'state'), { timeout: 180_000 }).toBe('failed');
  const error = 'no process serves the type "gone" any more: it is not configured';
  expect(await look(id)).toMatchObject({ error, attempts: 0 });
  await headgate.until(() => headgate.said('job failed').length > 0, 'the end was logged');
  expect(headgate.said('job failed')).toMatchObject([{ job: id, tenant: TENANT, type: 'gone', reason: error }]);
  await system.referee.expectNoViolations();
});
