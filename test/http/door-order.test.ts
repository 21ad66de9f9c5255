import { afterAll, beforeAll, expect, test } from 'vitest';
import { doorOf } from '../../src/http/door.js';
import { NO_POLICIES } from '../../src/http/policed-parts.js';
import { LIMITED, scriptedPolicing } from './support/scripted-policing.js';
import { scriptedShaping } from './support/scripted-shaping.js';
import { problemIn, type TestApp, testApp } from './support/test-app.js';
import { KEYS, testConfig } from './support/test-config.js';

let served: TestApp;
beforeAll(async () => {
  const full = { verdict: 'rejected', reason: 'bucket_full', limit: 'depth', retryAfterMs: 1000 } as const;
  const { shaping } = scriptedShaping({
    admit: async (_type, _tenant, jobs) => ({ admissions: jobs.map(() => full), depth: 1, freePlaces: 0 }),
  });
  const door = doorOf(await testConfig());
  const { policing } = scriptedPolicing(({ cost }) => (cost > 5 ? LIMITED : {}));
  served = await testApp({
    shaping,
    door: {
      ...door,
      type: (name) => {
        const rules = door.type(name);
        return rules === undefined ? undefined : { ...rules, policy: 'api' };
      },
    },
    policed: { ...NO_POLICIES, policing },
  });
});
afterAll(() => served.app.close());

interface Request {
  readonly key: string;
  readonly idempotencyKey: string;
  readonly padding: number;
  readonly body: object;
}

/** Wrong in every way at once. */
const WORST: Request = {
  key: 'nobodys-key-0123456789',
  idempotencyKey: 'two words',
  padding: 2 ** 21,
  body: { tenant: 'acme', type: 'orc', data: { pages: 'x'.repeat(3000) }, colour: 'red', startBy: 'soon' },
};

/** The faults in the order of the door, each with what mends it and leaves the others. */
const FAULTS: readonly { code: string; field: string | undefined; mend: Partial<Request> }[] = [
  { code: 'invalid_key', field: 'Authorization', mend: { key: KEYS.small } },
  { code: 'body_too_large', field: 'body', mend: { padding: 0 } },
  { code: 'tenant_forbidden', field: 'tenant', mend: { body: { tenant: undefined } } },
  { code: 'unknown_type', field: 'type', mend: { body: { type: 'ocr' } } },
  { code: 'type_forbidden', field: 'type', mend: { key: KEYS.acme } },
  { code: 'payload_too_large', field: 'data', mend: { body: { data: { pages: 'many' } } } },
  { code: 'unknown_field', field: 'colour', mend: { body: { colour: undefined } } },
  { code: 'invalid_field', field: 'data.pages', mend: { body: { data: { pages: 501 } } } },
  { code: 'invalid_field', field: 'Idempotency-Key', mend: { idempotencyKey: 'k' } },
  { code: 'cost_exceeds_max', field: 'data.pages', mend: { body: { data: { pages: 6 } } } },
  { code: 'invalid_field', field: 'startBy', mend: { body: { startBy: undefined } } },
  { code: 'rate_limited', field: undefined, mend: { body: { data: { pages: 5 } } } },
  { code: 'bucket_full', field: undefined, mend: {} },
];

test.each(FAULTS.map(({ code, field }, index) => ({ code, field, index })))(
  '$code ($field) is told before whatever comes after it',
  async ({ code, field, index }) => {
    let request = WORST;
    for (const { mend } of FAULTS.slice(0, index)) {
      request = { ...request, ...mend, body: { ...request.body, ...mend.body } };
    }
    const response = await served.app.inject({
      method: 'POST',
      url: '/v1/jobs',
      headers: {
        authorization: `Bearer ${request.key}`,
        'idempotency-key': request.idempotencyKey,
        'content-type': 'application/json',
      },
      payload: JSON.stringify(request.body) + ' '.repeat(request.padding),
    });
    const problem = problemIn(response);
    expect({ code: problem.code, field: problem.field }).toEqual({ code, field });
  },
);
