import { afterAll, beforeAll, expect, test } from 'vitest';
import { EXAMPLE_JOBS } from '../../src/http/described/example-world.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { apiDocument } from './support/api-document.js';
import { examplesOf, type Operation, operationsOf, requestTo, sentBy } from './support/api-operations.js';
import { type ApiAnswer, ask } from './support/ask.js';
import { type ExampleWorld, exampleWorld } from './support/example-world.js';
import { EXHAUSTED_KEY, type Foreign, foreignAt, type Place, placesOf, type Sent } from './support/foreign-names.js';
import { KEYS } from './support/test-config.js';

/** Routes where somebody shows who he is. */
const operations = operationsOf(await apiDocument()).filter(({ key }) => key !== 'none');

let server: TestRedis;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());

const OWN_KEY = { authorization: `Bearer ${KEYS.small}` };

test.each(operations.map((operation) => [operation.title, operation] as const))(
  '%s tells a tenant as much of what another has as of what nobody has, and changes none of it',
  async (_, operation) => {
    const [first] = examplesOf(operation);
    if (first === undefined) throw new Error(`${operation.title} has no example`);
    // Nobody runs jobs here, so nobody waits for their end.
    const { Prefer: _wait, ...headers } = sentBy(operation, first.name).headers;
    const base = { ...sentBy(operation, first.name), headers };
    for (const place of placesOf(operation)) {
      // What opens to other keys alone is closed, whatever one names.
      const isClosed = operation.key !== 'key';
      if (isClosed && !operation.path.includes(`{${place.name}}`)) continue;
      const foreign = isClosed && place.name === 'name' ? SHARED_NAMES : foreignAt(operation, place);
      for (const names of foreign) await expectTheSame(operation, base, place, names);
    }
  },
);

const SHARED_NAMES: readonly Foreign[] = [{ theirs: 'ocr', nobodys: 'nope' }];

async function expectTheSame(operation: Operation, base: Sent, place: Place, names: Foreign): Promise<void> {
  const ofNobody = await inWorld(async (world) => answered(world, operation, place.put(base, names.nobodys)));
  const ofThem = await inWorld(async (world) => {
    const before = await picture(world);
    const answer = await answered(world, operation, place.put(base, names.theirs));
    expect(await picture(world), `${place.name} ${names.theirs}: what acme has`).toEqual(before);
    return answer;
  });
  const what = `${place.name} ${names.theirs}`;
  expect(told(ofThem, names.theirs), what).toEqual(told(ofNobody, names.nobodys));
  if (operation.key !== 'key') expect([401, 403], what).toContain(ofThem.status);
}

async function inWorld<T>(act: (world: ExampleWorld) => Promise<T>): Promise<T> {
  const world = await exampleWorld(server);
  try {
    return await act(world);
  } finally {
    await world.close();
  }
}

function answered(world: ExampleWorld, operation: Operation, sent: Sent): Promise<ApiAnswer> {
  return ask(world.url, requestTo(operation, { ...sent, headers: { ...sent.headers, ...OWN_KEY } }));
}

/** What an answer tells, but for what is another with every request: instants, and ids of new jobs. */
function told({ status, headers, body }: ApiAnswer, name: string): unknown {
  const { date: _date, 'x-request-id': _id, 'content-length': _length, ...rest } = headers;
  return JSON.parse(neutral(JSON.stringify({ status, headers: rest, body }), name));
}

function neutral(text: string, name: string): string {
  const [id = name] = name.split('~').slice(-1);
  return text
    .replaceAll(encodeURIComponent(name), '<it>')
    .replaceAll(name, '<it>')
    .replaceAll(id, '<it>')
    .replace(/[0-9a-hjkmnp-tv-z]{26}(?=\.)/g, '<ulid>')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<instant>')
    .replace(/(Ms\\":|;t=)\d+/g, '$1<time>');
}

/** What another tenant could have touched. */
async function picture({ live }: ExampleWorld): Promise<unknown> {
  const jobs = await Promise.all(
    Object.values(EXAMPLE_JOBS).map((id) => live.ask('GET', `/v1/jobs/${id}`, undefined, 'acme')),
  );
  const keys = await live.ask('GET', '/v1/tenants/acme/keys');
  const tenant = await live.ask('GET', '/v1/tenants/acme');
  return {
    jobs: jobs.map(({ status, body: { state, attempts, cancelRequested, result, error, position } }) => {
      return { status, state, attempts, cancelRequested, result, error, position };
    }),
    keys: keys.body,
    tenant: tenant.body,
  };
}

test('a limit that another tenant has used up under the same key is whole', async () => {
  await inWorld(async ({ url, live }) => {
    const check = { policy: 'tight', key: EXHAUSTED_KEY };
    const acme = await live.ask('POST', '/v1/check', check, 'acme');
    expect(acme.status).toBe(429);
    const headers = { ...OWN_KEY, 'content-type': 'application/json' };
    const own = await ask(url, { method: 'POST', url: '/v1/check', headers, body: JSON.stringify(check) });
    expect(JSON.parse(own.body)).toMatchObject({ allowed: true, remaining: 0 });
  });
});

test('lists, limits and types of a tenant are what they are without the others', async () => {
  const seen = (world: ExampleWorld) =>
    Promise.all(
      ['/v1/limits', '/v1/types', '/v1/quote?type=chat', '/v1/jobs?type=chat&state=completed'].map(async (url) => {
        const answer = await ask(world.url, { method: 'GET', url, headers: OWN_KEY });
        expect(answer.status).toBe(200);
        return told(answer, 'small');
      }),
    );
  const beside = await inWorld(seen);
  const alone = await inWorld(async (world) => {
    const erased = await world.live.ask('DELETE', '/v1/tenants/acme');
    expect(erased.status).toBe(200);
    return seen(world);
  });
  expect(beside).toEqual(alone);
});
