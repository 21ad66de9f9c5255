import { describe, expect, test } from 'vitest';
import { problemsOf } from './loading.js';

const RATE = 'expected a rate from 0.0001/s to 100000/s (such as 10/s, 60/m or 100/h), 0 (paused) or unlimited';
const BURST = 'expected a whole number from 1 to 1000000000';
const DEPTH = 'expected a whole number from 0 to 10000000';
const WEIGHT = 'expected a number from 0.001 to 1000000';
const CONCURRENCY = 'expected a whole number from 1 to 1000000 or unlimited';
const MAX_WAIT = 'expected a duration from 0s to 365d (such as 250ms, 60s, 5m, 1h or 2d) or unlimited';
const TIMEOUT = 'expected a duration from 1ms to 1d (such as 250ms, 60s, 5m, 1h or 2d)';
const MAX_BYTES = 'expected a size from 1 to 1TB (such as 512KB or 64MB; a bare number is bytes)';
const COST = 'expected a number from 0.001 to 10000';
const COST_FORMS = 'expected a number, {from: data.FIELD, min, max, default?} or {request: {min, max}, default}';
const LISTEN = 'expected HOST:PORT such as 127.0.0.1:8080 or "[::1]:8080" (port 0: any free one)';
const REDIS =
  'expected embedded, redis://HOST[:PORT][/DB], rediss://HOST[:PORT][/DB] or a unix socket (unix:///PATH, /PATH or ./PATH)';
const KEY = 'expected an API key of 16 to 256 visible ASCII characters (only digits: in quotes), or env:NAME';
const NAME = 'expected a name of a-z, 0-9, _ and -, from a letter on, at most 40 long';
const NO_NULL = 'null clears an override through the API; in the file, leave the field out';

describe('a value that is not what the field holds is told with its place', () => {
  /** Field of tier `t`, value as it is written, the message. */
  const profile: [string, string, string][] = [
    // Every kind of thing that is not a rate.
    ['rate', '5', `${RATE}; got 5`],
    ['rate', '-1/s', `${RATE}; got "-1/s"`],
    ['rate', '-1', `${RATE}; got -1`],
    ['rate', '0.00001/s', `${RATE}; got "0.00001/s"`],
    ['rate', '100001/s', `${RATE}; got "100001/s"`],
    ['rate', '1e400/s', `${RATE}; got "1e400/s"`],
    ['rate', '1e400', `${RATE}; got 1e400`],
    ['rate', '.nan', `${RATE}; got .nan`],
    ['rate', '.inf', `${RATE}; got .inf`],
    ['rate', 'NaN', `${RATE}; got "NaN"`],
    ['rate', 'Infinity', `${RATE}; got "Infinity"`],
    ['rate', '0x10', `${RATE}; got 0x10`],
    ['rate', '" 5 "', `${RATE}; got " 5 "`],
    ['rate', '""', `${RATE}; got ""`],
    ['rate', 'abc', `${RATE}; got "abc"`],
    ['rate', '60s', `${RATE}; got "60s"`],
    ['rate', 'true', `${RATE}; got true`],
    ['rate', 'null', `${RATE}; got null`],
    ['rate', '~', `${RATE}; got null`],
    ['rate', '', `${RATE}; got nothing`],
    ['rate', '[]', `${RATE}; got a list`],
    ['rate', '{}', `${RATE}; got a mapping`],
    ['rate', '*nope', `${RATE}; got an alias of nothing`],
    ['rate', `"${'x'.repeat(200)}"`, `${RATE}; got "${'x'.repeat(60)}…"`],
    ['jobRate', '60', `${RATE}; got 60`],
    // The bounds of the others, and a few wrong kinds each.
    ['burst', '0', `${BURST}; got 0`],
    ['burst', '1000000001', `${BURST}; got 1000000001`],
    ['burst', '1.5', `${BURST}; got 1.5`],
    ['burst', '"5"', `${BURST}; got "5"`],
    ['burst', 'unlimited', `${BURST}; got "unlimited"`],
    ['burst', '.inf', `${BURST}; got .inf`],
    ['depth', '-1', `${DEPTH}; got -1`],
    ['depth', '10000001', `${DEPTH}; got 10000001`],
    ['depth', 'unlimited', `${DEPTH}; got "unlimited"`],
    ['maxBytes', '0', `${MAX_BYTES}; got 0`],
    ['maxBytes', '64M', `${MAX_BYTES}; got "64M"`],
    ['maxBytes', '2TB', `${MAX_BYTES}; got "2TB"`],
    ['maxBytes', 'unlimited', `${MAX_BYTES}; got "unlimited"`],
    ['maxWait', '300', `${MAX_WAIT}; got 300`],
    ['maxWait', '366d', `${MAX_WAIT}; got "366d"`],
    ['maxWait', '-5s', `${MAX_WAIT}; got "-5s"`],
    ['weight', '0', `${WEIGHT}; got 0`],
    ['weight', '-4', `${WEIGHT}; got -4`],
    ['weight', '1e9', `${WEIGHT}; got 1e9`],
    ['weight', '0.0009', `${WEIGHT}; got 0.0009`],
    ['weight', '1000001', `${WEIGHT}; got 1000001`],
    ['weight', 'unlimited', `${WEIGHT}; got "unlimited"`],
    ['weight', '.5', `${WEIGHT}; got .5`],
    ['concurrency', '0', `${CONCURRENCY}; got 0`],
    ['concurrency', '1000001', `${CONCURRENCY}; got 1000001`],
    ['concurrency', '2.5', `${CONCURRENCY}; got 2.5`],
    ['concurrency', '9999999999999999999999', `${CONCURRENCY}; got 9999999999999999999999`],
  ];
  test.each(profile)('%s: %s', async (field, value, message) => {
    const problems = await problemsOf(`types: {}\ntiers:\n  t:\n    ${field}: ${value}\n`);
    const column = value === '' ? 5 : field.length + 7;
    expect(problems).toEqual([`4:${column} tiers.t.${field}: ${message}`]);
  });

  /** Lines under type `x`, the problems. */
  const types: [string, string[]][] = [
    [
      'handler: 5',
      [
        '3:12 types.x.handler: expected the path of a TypeScript or JavaScript file, or the name of a built-in handler such as echo; got 5',
      ],
    ],
    [
      'handler: ""',
      [
        '3:12 types.x.handler: expected the path of a TypeScript or JavaScript file, or the name of a built-in handler such as echo; got ""',
      ],
    ],
    [
      'handler: Echo',
      ['3:12 types.x.handler: expected a path such as ./handlers/ocr.ts or the name of a built-in handler; got "Echo"'],
    ],
    [
      'handler: ./handlers/',
      [
        '3:12 types.x.handler: expected a path such as ./handlers/ocr.ts or the name of a built-in handler; got "./handlers/"',
      ],
    ],
    ['cost: 0', [`3:9 types.x.cost: ${COST}; got 0`]],
    ['cost: 10001', [`3:9 types.x.cost: ${COST}; got 10001`]],
    ['cost: .nan', [`3:9 types.x.cost: ${COST}; got .nan`]],
    ['cost: 1e400', [`3:9 types.x.cost: ${COST}; got 1e400`]],
    ['cost: "2"', [`3:9 types.x.cost: ${COST_FORMS}; got "2"`]],
    ['cost: unlimited', [`3:9 types.x.cost: ${COST_FORMS}; got "unlimited"`]],
    ['cost: null', [`3:9 types.x.cost: ${COST_FORMS}; got null`]],
    ['cost: []', [`3:9 types.x.cost: ${COST_FORMS}; got a list`]],
    [
      'cost: {}',
      [
        '3:9 types.x.cost.from: required; expected the place of a number in the payload, such as data.pages',
        `3:9 types.x.cost.min: required; ${COST}`,
        `3:9 types.x.cost.max: required; ${COST}`,
      ],
    ],
    [
      'cost: { from: pages, min: 1, max: 2 }',
      ['3:17 types.x.cost.from: expected the place of a number in the payload, such as data.pages'],
    ],
    [
      'cost: { from: data..x, min: 1, max: 2 }',
      ['3:17 types.x.cost.from: expected the place of a number in the payload, such as data.pages'],
    ],
    ['cost: { from: data.x, min: 1 }', [`3:9 types.x.cost.max: required; ${COST}`]],
    [
      'cost: { from: data.x, min: -1, max: 2, default: x }',
      [`3:30 types.x.cost.min: ${COST}; got -1`, `3:51 types.x.cost.default: ${COST}; got "x"`],
    ],
    ['cost: { from: data.x, min: 3, max: 2 }', ['3:30 types.x.cost.min: 3 is more than max, 2']],
    [
      'cost: { from: data.x, min: 1, max: 2, default: 3 }',
      ['3:50 types.x.cost.default: 3 is not between min, 1, and max, 2'],
    ],
    ['cost: { request: { min: 1, max: 2 } }', [`3:9 types.x.cost.default: required; ${COST}`]],
    ['cost: { request: { min: 3, max: 2 }, default: 1 }', ['3:27 types.x.cost.request.min: 3 is more than max, 2']],
    [
      'cost: { request: { min: 1, max: 2 }, default: 0.5 }',
      ['3:49 types.x.cost.default: 0.5 is not between min, 1, and max, 2'],
    ],
    ['cost: { request: 5, default: 1 }', ['3:20 types.x.cost.request: expected a mapping with min, max; got 5']],
    [
      'cost: { form: data.x, min: 1, max: 2 }',
      [
        '3:9 types.x.cost.from: required; expected the place of a number in the payload, such as data.pages',
        '3:11 types.x.cost.form: unknown field; did you mean "from"?',
      ],
    ],
    ['schema: 5', ['3:11 types.x.schema: expected the path of a JSON Schema file; got 5']],
    ['schema: nope.json', ['3:11 types.x.schema: ./nope.json cannot be read: there is no such file']],
    ['capacity: 5', ['3:13 types.x.capacity: expected a mapping with rate, burst, concurrency; got 5']],
    ['capacity:', ['3:3 types.x.capacity: expected a mapping with rate, burst, concurrency; got nothing']],
    [
      'capacity: { rate: 5, burst: 0, concurrency: 0 }',
      [
        `3:21 types.x.capacity.rate: ${RATE}; got 5`,
        `3:31 types.x.capacity.burst: ${BURST}; got 0`,
        `3:47 types.x.capacity.concurrency: ${CONCURRENCY}; got 0`,
      ],
    ],
    ['timeout: 60', [`3:12 types.x.timeout: ${TIMEOUT}; got 60`]],
    ['timeout: 0s', [`3:12 types.x.timeout: ${TIMEOUT}; got "0s"`]],
    ['timeout: 25h', [`3:12 types.x.timeout: ${TIMEOUT}; got "25h"`]],
    ['timeout: unlimited', [`3:12 types.x.timeout: ${TIMEOUT}; got "unlimited"`]],
    ['attempts: 0', ['3:13 types.x.attempts: expected a whole number from 1 to 100; got 0']],
    ['attempts: 101', ['3:13 types.x.attempts: expected a whole number from 1 to 100; got 101']],
    ['backoff: { type: linear }', ['3:20 types.x.backoff.type: expected exponential or fixed; got "linear"']],
    [
      'backoff: { delay: 2m, max: 90s }',
      ['3:21 types.x.backoff.delay: the first wait, 2m, is longer than the longest, 90s'],
    ],
    ['backoff: { delay: 2m }', ['3:21 types.x.backoff.delay: the first wait, 2m, is longer than the longest, 1m']],
    [
      'keepResults: { age: 0s, count: -1 }',
      [
        '3:23 types.x.keepResults.age: expected a duration from 1s to 365d (such as 250ms, 60s, 5m, 1h or 2d); got "0s"',
        '3:34 types.x.keepResults.count: expected a whole number from 1 to 1000000; got -1',
      ],
    ],
    [
      'slack: 61s',
      ['3:10 types.x.slack: expected a duration from 0s to 1m (such as 250ms, 60s, 5m, 1h or 2d); got "61s"'],
    ],
    [
      'maxPayload: 65MB',
      [
        '3:15 types.x.maxPayload: expected a size from 1 to 64MB (such as 512KB or 64MB; a bare number is bytes); got "65MB"',
      ],
    ],
    ['options: 5', ['3:12 types.x.options: expected a mapping ({} for none); got 5']],
    ['options: []', ['3:12 types.x.options: expected a mapping ({} for none); got a list']],
    ['options: { a: { b: [.nan] } }', ['3:23 types.x.options.a.b[0]: expected a number that JSON has; got .nan']],
    ['options: { __proto__: { x: 1 } }', ['3:14 types.x.options.__proto__: this name cannot be used']],
    ['options: { a: 1, a: 2 }', ['3:20 types.x.options.a: stands here twice']],
    ['options: { [a]: 1 }', ['3:14 types.x.options: expected a name before the colon']],
    ['mode: queue', ['3:9 types.x.mode: expected shape or police; got "queue"']],
    ['timout: 5s', ['3:3 types.x.timout: unknown field; did you mean "timeout"?']],
    ['TIMEOUT: 5s', ['3:3 types.x.TIMEOUT: unknown field; did you mean "timeout"?']],
    [
      '__proto__: 5',
      [
        '3:3 types.x.__proto__: unknown field; the fields here are handler, mode, policy, cost, schema, capacity, timeout, attempts, backoff, retry, maxHold, maxReturns, threadMemory, keepResults, slack, maxPayload, options',
      ],
    ],
    ['timeout: 5s\n  timeout: 6s', ['4:3 types.x.timeout: stands here twice; first on line 3']],
  ];
  test.each(types)('of a type, %s', async (lines, problems) => {
    expect(await problemsOf(`types:\n x:\n  ${lines}\n`)).toEqual(problems);
  });

  /** The rest of a file, the problems. */
  const rest: [string, string[]][] = [
    ['redis: 6379', [`2:8 redis: ${REDIS}, or a mapping with url, sentinel or cluster; got a number`]],
    ['redis: localhost:6379', [`2:8 redis: ${REDIS}; did you mean redis://localhost:6379?`]],
    [
      'redis: { cluster: [redis://a] }',
      ['2:20 redis.cluster[0]: expected HOST:PORT such as 10.0.0.1:6379 or "[::1]:6379"; got "redis://a"'],
    ],
    ['redis: env:NO_SUCH_REDIS', ['2:8 redis: the environment variable NO_SUCH_REDIS is not set']],
    ['redis: env:constructor', ['2:8 redis: the environment variable constructor is not set']],
    ['listen: 8080', [`2:9 listen: ${LISTEN}; got 8080`]],
    ['listen: 127.0.0.1', [`2:9 listen: ${LISTEN}; got "127.0.0.1"`]],
    ['listen: ":8080"', [`2:9 listen: ${LISTEN}; got ":8080"`]],
    ['listen: localhost:65536', [`2:9 listen: ${LISTEN}; got "localhost:65536"`]],
    ['listen: http://localhost:80', [`2:9 listen: ${LISTEN}; got "http://localhost:80"`]],
    ['listen: "[:::1]:80"', [`2:9 listen: ${LISTEN}; got "[:::1]:80"`]],
    ['shards: 0', ['2:9 shards: expected a whole number from 1 to 1024; got 0']],
    ['shards: 2.5', ['2:9 shards: expected a whole number from 1 to 1024; got 2.5']],
    ['shards: 1025', ['2:9 shards: expected a whole number from 1 to 1024; got 1025']],
    ['durability: never', ['2:13 durability: expected everysec or always; got "never"']],
    ['durability: true', ['2:13 durability: expected everysec or always; got true']],
    [
      'lockDuration: 499ms',
      ['2:15 lockDuration: expected a duration from 500ms to 1h (such as 250ms, 60s, 5m, 1h or 2d); got "499ms"'],
    ],
    [
      'stalledInterval: 0s',
      ['2:18 stalledInterval: expected a duration from 100ms to 1h (such as 250ms, 60s, 5m, 1h or 2d); got "0s"'],
    ],
    [
      'shutdownGrace: 2h',
      ['2:16 shutdownGrace: expected a duration from 0s to 1h (such as 250ms, 60s, 5m, 1h or 2d); got "2h"'],
    ],
    ['admin: []', ['2:8 admin: expected a mapping with keys; got a list']],
    ['admin: { keys: abcdefghijklmnop }', ['2:16 admin.keys: expected a list ([] for none); got "abcdefghijklmnop"']],
    [
      'admin: { keys: [short, null, 1234567890123456] }',
      [
        '2:17 admin.keys[0]: an API key has at least 16 characters, this one 5',
        `2:24 admin.keys[1]: ${KEY}; got null`,
        `2:30 admin.keys[2]: ${KEY}; got a number`,
      ],
    ],
    [
      'admin: { keys: [env:NO_SUCH_KEY, "env:NO SUCH", "env:"] }',
      [
        '2:17 admin.keys[0]: the environment variable NO_SUCH_KEY is not set',
        '2:34 admin.keys[1]: env: needs the name of a variable, such as env:ACME_KEY',
        '2:49 admin.keys[2]: env: needs the name of a variable, such as env:ACME_KEY',
      ],
    ],
    [
      `admin: { keys: [${'k'.repeat(257)}, "a secret with spaces", "schlüsselschlüssel"] }`,
      [
        '2:17 admin.keys[0]: an API key has at most 256 characters, this one 257',
        '2:276 admin.keys[1]: an API key has visible ASCII characters only, and no space',
        '2:300 admin.keys[2]: an API key has visible ASCII characters only, and no space',
      ],
    ],
    ['tiers:', ['2:1 tiers: expected a mapping of names ({} for none); got nothing']],
    ['tiers: { Free: {} }', [`2:10 tiers.Free: ${NAME}; got "Free"`]],
    [
      'tiers: { free: null }',
      [
        '2:16 tiers.free: expected a mapping with rate, burst, jobRate, depth, maxBytes, maxWait, weight, concurrency, mode, allow; got null',
      ],
    ],
    [
      'tiers: { free: { tier: pro } }',
      [
        '2:18 tiers.free.tier: unknown field; the fields here are rate, burst, jobRate, depth, maxBytes, maxWait, weight, concurrency, mode, allow',
      ],
    ],
    ['tiers: { a: {}, a: {} }', ['2:17 tiers.a: stands here twice; first on line 2']],
    ['tiers: { ? [a, b] : {} }', ['2:12 tiers: expected a name before the colon']],
    [`tiers: { ${'a'.repeat(41)}: {} }`, [`2:10 tiers.${'a'.repeat(41)}: ${NAME}; got "${'a'.repeat(41)}"`]],
    ['tiers: { "": {} }', [`2:10 tiers[""]: ${NAME}; got ""`]],
    ['defaultTier: 5', ['2:14 defaultTier: expected a name; got 5']],
    ['defaultTier: No', [`2:14 defaultTier: ${NAME}; got "No"`]],
    ['tenants: { acme: { rate: null } }', [`2:26 tenants.acme.rate: ${NO_NULL}`]],
    ['tenants: { acme: { rate: } }', [`2:20 tenants.acme.rate: ${NO_NULL}`]],
    [
      'tenants: { acme: { types: { x: { burst: ~ } } } }\ntiers: { x: {} }',
      [
        '2:32 tenants.acme.types.x: there is no type "x"; there are no types',
        `2:41 tenants.acme.types.x.burst: ${NO_NULL}`,
      ],
    ],
    ['tenants: { "": {} }', ['2:12 tenants[""]: expected a tenant id of 1 to 128 bytes of UTF-8; got 0 bytes']],
    [
      `tenants: { ${'é'.repeat(65)}: {} }`,
      [`2:12 tenants["${'é'.repeat(60)}…"]: expected a tenant id of 1 to 128 bytes of UTF-8; got 130 bytes`],
    ],
    [
      'tenants: { "a\\ud800": {} }',
      ['2:12 tenants["a\\ud800"]: expected a tenant id that is valid Unicode; got half of a surrogate pair'],
    ],
    ['tenants: { 1: {}, "1": {} }', ['2:19 tenants["1"]: stands here twice; first on line 2']],
    ['tenants: { __proto__: { rte: 5/s } }', ['2:25 tenants.__proto__.rte: unknown field; did you mean "rate"?']],
    [
      'tenants: { "a:b": { key: "  " } }',
      ['2:26 tenants["a:b"].key: an API key has at least 16 characters, this one 2'],
    ],
    ['tenants: { acme: { allow: ocr } }', ['2:27 tenants.acme.allow: expected a list ([] for none); got "ocr"']],
    ['durabilty: always', ['2:1 durabilty: unknown field; did you mean "durability"?']],
    [
      '<<: { listen: x }',
      [
        '2:1 ["<<"]: unknown field; the fields here are redis, listen, shards, durability, memory, metrics, dashboard, lockDuration, stalledInterval, forsakenAfter, shutdownGrace, admin, gateways, workers, connections, trustProxy, types, tiers, defaultTier, tenants, policies, routes, webhooks',
      ],
    ],
    ['types: {}', ['2:1 types: stands here twice; first on line 1']],
  ];
  test.each(rest)('%s', async (line, problems) => {
    expect(await problemsOf(`types: {}\n${line}\n`)).toEqual(problems);
  });
});

describe('a file that is no configuration at all is told', () => {
  const rows: [string, string | Uint8Array, string[]][] = [
    [
      'empty',
      '',
      [
        '1:1 : expected a mapping with redis, listen, shards, durability, memory, metrics, dashboard, lockDuration, stalledInterval, forsakenAfter, shutdownGrace, admin, gateways, workers, connections, trustProxy, types, tiers, defaultTier, tenants, policies, routes, webhooks; got nothing',
      ],
    ],
    [
      'a comment',
      '# nothing\n',
      [
        '1:1 : expected a mapping with redis, listen, shards, durability, memory, metrics, dashboard, lockDuration, stalledInterval, forsakenAfter, shutdownGrace, admin, gateways, workers, connections, trustProxy, types, tiers, defaultTier, tenants, policies, routes, webhooks; got nothing',
      ],
    ],
    [
      'a list',
      '- types\n',
      [
        '1:1 : expected a mapping with redis, listen, shards, durability, memory, metrics, dashboard, lockDuration, stalledInterval, forsakenAfter, shutdownGrace, admin, gateways, workers, connections, trustProxy, types, tiers, defaultTier, tenants, policies, routes, webhooks; got a list',
      ],
    ],
    ['no types', 'redis: embedded\n', ['1:1 types: required; expected a mapping of names ({} for none)']],
    [
      'bad indentation',
      'types: {}\ntiers: [1,\nx: 2',
      ['3:1 : not valid YAML: Flow sequence in block collection must be sufficiently indented and end with a ]'],
    ],
    ['an open quote', 'types: {}\nlisten: "x', ['2:11 : not valid YAML: Missing closing "quote']],
    ['a tab', 'types:\n\tx: {}\n', ['2:1 : not valid YAML: Tabs are not allowed as indentation']],
    ['two documents', 'types: {}\n---\ntypes: {}\n', ['2:1 : not valid YAML: Source contains multiple documents']],
    ['an unknown tag', 'types: !mine {}\n', ['1:8 : not valid YAML: Unresolved tag: !mine']],
    ['not UTF-8', Uint8Array.of(0x74, 0xff), [': the file is not UTF-8 text']],
  ];
  test.each(rows)('%s', async (_what, text, problems) => {
    expect(await problemsOf(text)).toEqual(problems);
  });
});

test('everything that is wrong is told at once, in the order of the file', async () => {
  const problems = await problemsOf(`
listen: 8080
types:
  ocr:
    cost: { from: pages, min: 5, max: 2 }
    timeout: 60
    schema: nope.json
tiers:
  free: { rate: 5, wieght: 1 }
defaultTier: fre
tenants:
  acme: { tier: prp, key: env:ACME_KEY, types: { ocrr: {} } }
`);
  expect(problems.map((problem) => problem.split(': ')[0])).toEqual([
    '2:9 listen',
    '5:19 types.ocr.cost.from',
    '5:31 types.ocr.cost.min',
    '6:14 types.ocr.timeout',
    '7:13 types.ocr.schema',
    '9:17 tiers.free.rate',
    '9:20 tiers.free.wieght',
    '10:14 defaultTier',
    '12:17 tenants.acme.tier',
    '12:27 tenants.acme.key',
    '12:56 tenants.acme.types.ocrr',
  ]);
});

test('a broken section raises no second problem where others refer to it', async () => {
  const text =
    'types: 5\ntiers: []\ndefaultTier: free\ntenants: { acme: { tier: free, allow: [ocr], types: { ocr: {} } } }\n';
  expect((await problemsOf(text)).map((problem) => problem.split(': ')[0])).toEqual(['1:8 types', '2:8 tiers']);
});

test('a refused key keeps its place, so that the next one is told rightly', async () => {
  const text = `types: {}\ntenants:\n  a: { key: ${'a'.repeat(16)} }\n  b:\n    keys:\n      - short\n      - ${'a'.repeat(16)}\n`;
  expect(await problemsOf(text)).toEqual([
    '6:9 tenants.b.keys[0]: an API key has at least 16 characters, this one 5',
    '7:9 tenants.b.keys[1]: this is the key of tenant "a" too',
  ]);
});

describe('no message repeats a secret', () => {
  const secret = 'hunter2hunter2hunter2';
  test.each([
    `admin: { keys: [${secret}, [${secret}], "${secret} "] }`,
    `redis: redis://user:${secret}@host/notanumber`,
    `redis: redis://user:${secret}@`,
    `redis: user:${secret}@host:6379`,
    `redis: redis://user:${secret}%ff@host`,
    `tenants: { a: { key: ${secret} }, b: { key: ${secret} } }`,
    `tenants: { a: { key: ${secret} , keys: [${secret}] } }`,
    `tenants: { a: { key: ${secret.repeat(20)} } }`,
  ])('%s', async (line) => {
    const problems = await problemsOf(`types: {}\n${line}\n`);
    expect(problems).not.toEqual([]);
    expect(problems.join('\n')).not.toContain('hunter2');
  });
});

test('aliases that unfold without end are stopped', async () => {
  const laughs = Array.from({ length: 12 }, (_, i) =>
    `    a${i}: &a${i} [${`*a${i - 1}, `.repeat(9)}1]`.replaceAll('*a-1, ', ''),
  );
  expect(await problemsOf(`types:\n x:\n  options:\n${laughs.join('\n')}\n`)).toEqual([
    '4:5 types.x.options: expected at most 10000 values',
  ]);
  const circle = await problemsOf('types: { x: { options: { a: &a { b: *a } } } }\n');
  expect(circle).toHaveLength(1);
  expect(circle[0]).toContain('expected at most 32 levels');
});
