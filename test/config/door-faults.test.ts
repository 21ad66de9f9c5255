import { describe, expect, test } from 'vitest';
import { loadText, problemsOf } from './loading.js';

const NAME = 'expected a name of a-z, 0-9, _ and -, from a letter on, at most 40 long';
const NETWORK = 'expected loopback, an address such as 10.0.0.7, or a network such as 10.0.0.0/8 or fd00::/8';
const PROXIES =
  'expected false, loopback, an address, a network such as 10.0.0.0/8, a list of these, or a number of proxies from 1 to 10';
const PATTERN = 'expected the pattern of a path, such as /users/:id or /files/*';
const COST = 'expected a number from 0.000001 to 1000000000';
const METHOD = 'expected "*" or the name of a method in capitals, such as GET or POST';
const API_KEY = 'an API key of 16 to 256 visible ASCII characters (only digits: in quotes), or env:NAME';
const NO_NULL = 'null clears an override through the API; in the file, leave the field out';

describe('routes, gateways and proxies that are wrong are told, with their place', () => {
  /** A line beside the policy `p`, five a second; the problems. */
  const rows: [string, string[]][] = [
    ['trustProxy: true', [`3:13 trustProxy: ${PROXIES}; got true`]],
    ['trustProxy: 0', ['3:13 trustProxy: expected a whole number from 1 to 10; got 0']],
    ['trustProxy: 11', ['3:13 trustProxy: expected a whole number from 1 to 10; got 11']],
    ['trustProxy: 1.5', ['3:13 trustProxy: expected a whole number from 1 to 10; got 1.5']],
    ['trustProxy: 10.0.0.0/33', [`3:13 trustProxy: ${NETWORK}; got "10.0.0.0/33"`]],
    ['trustProxy: 0.0.0.0/0', [`3:13 trustProxy: ${NETWORK}; got "0.0.0.0/0"`]],
    ['trustProxy: 10.1/16', [`3:13 trustProxy: ${NETWORK}; got "10.1/16"`]],
    ['trustProxy: "fe80::1%eth0"', [`3:13 trustProxy: ${NETWORK}; got "fe80::1%eth0"`]],
    ['trustProxy: localhost', [`3:13 trustProxy: ${NETWORK}; got "localhost"`]],
    [
      'trustProxy: [10.0.0.1, [], 10.0.0.256]',
      [`3:24 trustProxy[1]: ${NETWORK}; got a list`, `3:28 trustProxy[2]: ${NETWORK}; got "10.0.0.256"`],
    ],
    ['trustProxy: {}', [`3:13 trustProxy: ${PROXIES}; got a mapping`]],
    ['trustProxy: null', [`3:13 trustProxy: ${PROXIES}; got null`]],
    ['trustProxy:', [`3:1 trustProxy: ${PROXIES}; got nothing`]],
    ['gateways: []', ['3:11 gateways: expected a mapping with keys; got a list']],
    ['gateways: { keys: [short] }', ['3:20 gateways.keys[0]: an API key has at least 16 characters, this one 5']],
    ['gateways: { kyes: [] }', ['3:13 gateways.kyes: unknown field; did you mean "keys"?']],
    ['routes: {}', ['3:9 routes: expected a list ([] for none); got a mapping']],
    ['routes: [5]', ['3:10 routes[0]: expected a mapping with method, path, policy, cost; got 5']],
    ['routes: [{}]', [`3:10 routes[0].path: required; ${PATTERN}`, '3:10 routes[0].policy: required; expected a name']],
    ['routes: [{ path: /x, policy: p, costs: 5 }]', ['3:33 routes[0].costs: unknown field; did you mean "cost"?']],
    [
      'routes: [{ path: x, policy: p }]',
      [`3:18 routes[0].path: ${PATTERN}; got "x": The first character of a path should be \`/\` or \`*\``],
    ],
    ['routes: [{ path: "", policy: p }]', [`3:18 routes[0].path: ${PATTERN}; got ""`]],
    [
      'routes: [{ path: "/a*b", policy: p }]',
      [`3:18 routes[0].path: ${PATTERN}; got "/a*b": Wildcard must be the last character in the route`],
    ],
    [
      'routes: [{ path: "/:id?/x", policy: p }]',
      [`3:18 routes[0].path: ${PATTERN}; got "/:id?/x": Optional Parameter needs to be the last parameter of the pat…`],
    ],
    [
      'routes: [{ path: "/:id((a+)+$)", policy: p }]',
      [`3:18 routes[0].path: ${PATTERN}; got "/:id((a+)+$)": The regex '((a+)+$)' is not safe!`],
    ],
    [
      'routes: [{ path: "/:id(", policy: p }]',
      [`3:18 routes[0].path: ${PATTERN}; got "/:id(": Invalid regexp expression in "/:id("`],
    ],
    ['routes: [{ path: "/x?y=1", policy: p }]', [`3:18 routes[0].path: ${PATTERN}; got "/x?y=1": a path has no ?`]],
    ['routes: [{ path: "/x#y", policy: p }]', [`3:18 routes[0].path: ${PATTERN}; got "/x#y": a path has no #`]],
    ['routes: [{ path: /x, policy: P }]', [`3:30 routes[0].policy: ${NAME}; got "P"`]],
    ['routes: [{ path: /x, policy: pp }]', ['3:30 routes[0].policy: there is no policy "pp"; did you mean "p"?']],
    [
      'routes: [{ path: /x, policy: other }]',
      ['3:30 routes[0].policy: there is no policy "other"; the policies are p'],
    ],
    ['routes: [{ path: /x, policy: p, method: get }]', [`3:41 routes[0].method: ${METHOD}; got "get"`]],
    ['routes: [{ path: /x, policy: p, method: FETCH }]', [`3:41 routes[0].method: ${METHOD}; got "FETCH"`]],
    ['routes: [{ path: /x, policy: p, method: * }]', ['3:41 : not valid YAML: Alias cannot be an empty string']],
    ['routes: [{ path: /x, policy: p, cost: 0 }]', [`3:39 routes[0].cost: ${COST}; got 0`]],
    ['routes: [{ path: /x, policy: p, cost: 1e400 }]', [`3:39 routes[0].cost: ${COST}; got 1e400`]],
    ['routes: [{ path: /x, policy: p, cost: "1" }]', [`3:39 routes[0].cost: ${COST}; got "1"`]],
    [
      'routes: [{ path: /x, policy: p, cost: 10 }]',
      ['3:39 routes[0].cost: costs 10; policy p lets 5 pass at once, for any caller'],
    ],
    [
      'routes: [{ path: /x, policy: p }, { path: /x, policy: p, cost: 2 }]',
      ['3:43 routes[1].path: a route for /x and the same method stands here already'],
    ],
    [
      'routes: [{ path: /x, policy: p }, { path: /x, policy: p, method: GET }, { path: /x, policy: p, method: GET }]',
      ['3:81 routes[2].path: a route for /x and the same method stands here already'],
    ],
    [
      'routes: [{ path: "/u/:id", policy: p }, { path: "/v", policy: p }, { path: "/u/:name", policy: p }]',
      ['3:76 routes[2].path: a route for /u/:id and the same method stands here already'],
    ],
    [
      'routes: [{ path: "/*", policy: p }, { path: "*", policy: p }]',
      ['3:45 routes[1].path: a route for /* and the same method stands here already'],
    ],
    [
      'routes: [{ path: "/u", policy: p }, { path: "/u/:id?", policy: p }]',
      ['3:45 routes[1].path: a route for /u and the same method stands here already'],
    ],
    ['routes: [{ path: "/:id(a)?", policy: p }]', [`3:18 routes[0].path: ${PATTERN}; got "/:id(a)?": a path has no ?`]],
    ['routes: [{ path: "/:id(a?)", policy: p }]', []],
    [
      'routes: [{ path: "/a%2Ab", policy: p }]',
      [`3:18 routes[0].path: ${PATTERN}; got "/a%2Ab": Wildcard must be the last character in the route`],
    ],
    ['routes: [{ path: "/a%3Fb", policy: p }]', []],
    ['routes: [{ path: "/%", policy: p }]', []],
    ['routes: [{ path: "/u)", policy: p }]', []],
    [
      'routes: [{ path: "/Users", policy: p }, { path: "/users/", policy: p }]',
      ['3:49 routes[1].path: a route for /Users and the same method stands here already'],
    ],
    [
      'routes: [{ path: "/caf%C3%A9", policy: p }, { path: "/café", policy: p }]',
      ['3:53 routes[1].path: a route for /caf%C3%A9 and the same method stands here already'],
    ],
    [
      'routes: [{ path: "/:id(^A$)", policy: p }, { path: "/:id(^a$)", policy: p }]',
      ['3:52 routes[1].path: a route for /:id(^A$) and the same method stands here already'],
    ],
    [
      'routes: [{ path: "/u//x", policy: p }, { path: "/u/x", policy: p }]',
      ['3:48 routes[1].path: a route for /u//x and the same method stands here already'],
    ],
    [
      'routes: [{ path: "/u/:id", policy: p }, { path: "/u", policy: p }, { path: "/u/:id?", policy: p }]',
      ['3:76 routes[2].path: a route for /u/:id and the same method stands here already'],
    ],
    [
      'routes: [{ path: "/:id(^a$)", policy: p }, { path: "/:id(^b$)", policy: p, method: GET }]',
      ['3:18 routes[0].path: the route for GET /:id(^b$) differs from this one in its expression alone'],
    ],
    [
      'routes: [{ path: "/u/:id?", policy: p }, { path: "/u", policy: p, method: GET }, { path: "/u/:id", policy: p, method: POST }]',
      [],
    ],
  ];
  test.each(rows)('%s', async (line, problems) => {
    expect(await problemsOf(`types: {}\npolicies: { p: { rate: 5/s } }\n${line}\n`)).toEqual(problems);
  });
});

describe('the policy at the door of a type exists, and lets its jobs pass', () => {
  const rows: [string, string[]][] = [
    ['types: { x: { policy: api } }', ['2:23 types.x.policy: there is no policy "api"; the policies are p']],
    ['types: { x: { policy: 5 } }', ['2:23 types.x.policy: expected a name; got 5']],
    [
      'types: { x: { policy: p, cost: 6 } }',
      ['2:32 types.x.cost: every job costs at least 6; policy p lets 5 pass at once, for any caller'],
    ],
    [
      'types: { x: { policy: p, cost: { from: data.n, min: 6, max: 9 } } }',
      ['2:32 types.x.cost: every job costs at least 6; policy p lets 5 pass at once, for any caller'],
    ],
  ];
  test.each(rows)('%s', async (line, problems) => {
    expect(await problemsOf(`policies: { p: { rate: 5/s } }\n${line}\n`)).toEqual(problems);
  });
});

describe('a mode is one of two words', () => {
  const rows: [string, string[]][] = [
    ['tiers: { t: { mode: queue } }', ['2:21 tiers.t.mode: expected shape or police; got "queue"']],
    ['tiers: { t: { mode: null } }', ['2:21 tiers.t.mode: expected shape or police; got null']],
    [
      'tenants: { a: { mode: null, types: { x: { mode: } } } }',
      [`2:23 tenants.a.mode: ${NO_NULL}`, `2:43 tenants.a.types.x.mode: ${NO_NULL}`],
    ],
    ['tenants: { a: { mode: true } }', ['2:23 tenants.a.mode: expected shape or police; got true']],
  ];
  test.each(rows)('%s', async (line, problems) => {
    expect(await problemsOf(`types: { x: {} }\n${line}\n`)).toEqual(problems);
  });
});

describe('the keys of workers', () => {
  const [ONE, OTHER] = ['worker-secret-key-1', 'worker-secret-key-2'];

  test('stand alone, or with the types that they are for', async () => {
    const { workers } = await loadText(
      `types: { a: {}, b: {} }\nworkers: { keys: [${ONE}, { key: ${OTHER}, types: [a] }] }`,
    );
    expect(workers.keys).toEqual([
      { key: ONE, types: null },
      { key: OTHER, types: new Set(['a']) },
    ]);
  });

  test.each<[keys: string, problems: string[]]>([
    ['[short]', ['2:19 workers.keys[0]: an API key has at least 16 characters, this one 5']],
    [`[{ key: ${ONE}, types: [c] }]`, ['2:55 workers.keys[0].types[0]: there is no type "c"; did you mean "a"?']],
    [`[{ key: ${ONE} }]`, ['2:19 workers.keys[0].types: required; expected a list ([] for none)']],
    [`[{ types: [a] }]`, [`2:19 workers.keys[0].key: required; expected ${API_KEY}`]],
    [`[{ key: ${ONE}, type: a, types: [] }]`, ['2:47 workers.keys[0].type: unknown field; did you mean "types"?']],
    ['[5]', [`2:19 workers.keys[0]: expected ${API_KEY}, or {key, types: [TYPE]}; got a number`]],
    [`[${ONE}, { key: ${ONE}, types: [a] }]`, ['2:40 workers.keys[1]: this key stands here twice']],
  ])('%s', async (keys, problems) => {
    expect(await problemsOf(`types: { a: {}, b: {} }\nworkers: { keys: ${keys} }\n`)).toEqual(problems);
  });
});

describe('the key of a gateway is its own', () => {
  const KEY = 'gateway-secret-key';
  const rows: [string, string, string[]][] = [
    [
      'a tenant',
      `gateways: { keys: [${KEY}] }\ntenants: { a: { key: ${KEY} } }`,
      ['3:22 tenants.a.key: this is the key of a gateway too'],
    ],
    [
      'an admin',
      `admin: { keys: [${KEY}] }\ngateways: { keys: [other-secret-key-1, ${KEY}] }`,
      ['3:40 gateways.keys[1]: this is the key of an admin too'],
    ],
  ];
  test.each(rows)('not that of %s', async (_whose, lines, problems) => {
    expect(await problemsOf(`types: {}\n${lines}\n`)).toEqual(problems);
  });

  test('not the admin key of the environment', async () => {
    const text = `types: {}\ngateways: { keys: [${KEY}] }\n`;
    expect(await problemsOf(text, { env: { HEADGATE_ADMIN_KEY: KEY } })).toEqual([
      '2:20 gateways.keys[0]: this is the key of an admin too',
    ]);
  });

  test('no message repeats it', async () => {
    const problems = await problemsOf(`types: {}\ngateways: { keys: ["${KEY} ", [${KEY}], env:${KEY}] }\n`);
    expect(problems).toHaveLength(3);
    expect(problems.join('\n')).not.toContain(KEY);
  });
});
