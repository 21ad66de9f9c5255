import { type Node, nodeOf } from '../../../src/http/described/describe-operation.js';
import { COMPLETED_KEY, EXAMPLE_JOBS, EXAMPLE_KEY } from '../../../src/http/described/example-world.js';
import type { Operation } from './api-operations.js';

/** A place in a request where one may name something, and the same request with something else in it. */
export interface Place {
  readonly name: string;
  readonly put: (sent: Sent, value: string) => Sent;
}

/** The parts of a request. */
export interface Sent {
  readonly path: Node;
  readonly query: Node;
  readonly headers: Node;
  readonly body?: unknown;
}

/** Something that belongs to the tenant `acme`, and the like of it that belongs to nobody. */
export interface Foreign {
  readonly theirs: string;
  readonly nobodys: string;
}

/** The key of a policy, in use by acme. */
export const EXHAUSTED_KEY = 'exhausted';

const NOBODYS_JOB = '01kcb6v0xk3t4m5n6p7q8r9zzz';
const JOBS: readonly Foreign[] = Object.values(EXAMPLE_JOBS).map((id) => ({
  theirs: id,
  nobodys: id.replace(/^\w+/, NOBODYS_JOB),
}));
const TENANT: Foreign = { theirs: 'acme', nobodys: 'nobody-knows-it' };

/** By name: what of another tenant's may be named there. */
const FOREIGN: Readonly<Record<string, readonly Foreign[]>> = {
  tenant: [TENANT],
  cursor: JOBS.map(({ theirs, nobodys }) => ({
    theirs: `1796000000000~${theirs}`,
    nobodys: `1796000000000~${nobodys}`,
  })),
  'Idempotency-Key': [{ theirs: COMPLETED_KEY, nobodys: 'nobody-used-it' }],
  idempotencyKey: [{ theirs: COMPLETED_KEY, nobodys: 'nobody-used-it' }],
  key: [
    { theirs: EXHAUSTED_KEY, nobodys: 'nobody-used-it' },
    { theirs: EXAMPLE_KEY, nobodys: '0000000000000000' },
  ],
};

/** What all tenants share, or means something in the caller's own alone. */
const SHARED: Readonly<Record<string, string>> = {
  ...{ type: 'types', name: 'types and tiers', policy: 'policies' },
  ...{
    state: 'a word',
    limit: 'a number',
    count: 'a number',
    priority: 'a number',
    cost: 'a number',
    peek: 'yes or no',
  },
  ...{ data: 'what the handler gets', attempts: 'a number', backoff: 'numbers', webhook: 'where to tell of the end' },
  ...{ delayMs: 'a number', runAt: 'an instant', startBy: 'an instant', Prefer: 'a number' },
  'Last-Event-ID': 'a place in the output of the job that the path names',
};

/** What of another tenant's may be named at a place; throws where nobody has said. */
export function foreignAt({ title, path }: Operation, { name }: Place): readonly Foreign[] {
  if (name === 'id') return path.startsWith('/v1/jobs') ? JOBS : [TENANT];
  const foreign = FOREIGN[name];
  if (foreign !== undefined) return foreign;
  if (name in SHARED) return [];
  throw new Error(
    `${title} takes "${name}": say in FOREIGN what of another tenant's may be named there, or in SHARED why nothing can`,
  );
}

/** Every place in the requests of an operation. */
export function placesOf({ parameters, body }: Operation): readonly Place[] {
  return [
    ...parameters.map(({ in: place, name }): Place => {
      if (place === 'path') return { name, put: (sent, value) => ({ ...sent, path: { ...sent.path, [name]: value } }) };
      if (place === 'query')
        return { name, put: (sent, value) => ({ ...sent, query: { ...sent.query, [name]: value } }) };
      return { name, put: (sent, value) => ({ ...sent, headers: { ...sent.headers, [name]: value } }) };
    }),
    ...members(body).flatMap(([name, schema]): Place[] => {
      if (name !== 'jobs') {
        return [{ name, put: (sent, value) => ({ ...sent, body: { ...nodeOf(sent.body), [name]: value } }) }];
      }
      return members(nodeOf(schema.items)).map(([inner]) => ({
        name: inner,
        put: (sent, value) => ({ ...sent, body: { ...nodeOf(sent.body), jobs: withMember(sent.body, inner, value) } }),
      }));
    }),
  ];
}

/** The jobs of a batch, with a member set in each: a key beside its index, so that it stays the job's own. */
function withMember(body: unknown, name: string, value: string): unknown[] {
  const [first] = [nodeOf(body)?.jobs ?? []].flat();
  return [{ ...nodeOf(first), [name]: value }];
}

function members(schema: Node | undefined): [string, Node][] {
  return Object.entries(nodeOf(schema?.properties) ?? {}).map(([name, each]) => [name, nodeOf(each) ?? {}]);
}
