import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/config/problem.js';
import { readOptions } from '../../src/plugins/read-options.js';

const api = { rate: '2/s', burst: 100 };
const local = { algorithm: 'local', ...api };
const redis = 'redis://127.0.0.1';

/** What is wrong with the options, a line each. */
function faults(options: Readonly<Record<string, unknown>>, mustHold = false): string[] {
  const { policing } = options;
  const has = policing === undefined ? undefined : (policy: string) => policy === 'api';
  try {
    readOptions(options, has, mustHold);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message
      .split('\n')
      .slice(1)
      .map((line) => line.trim());
  }
}

describe('the options of a plugin', () => {
  it('are read by the schema of the configuration file', () => {
    const {
      policies,
      routes,
      policy,
      redis: address,
    } = readOptions(
      {
        redis,
        policies: { api: { ...api, onOutage: 'closed' }, edge: local },
        routes: [{ method: 'POST', path: '/uploads/*', policy: 'api', cost: 10 }],
        policy: 'edge',
      },
      undefined,
    );
    expect(policies.get('api')).toMatchObject({
      place: 'redis',
      onOutage: 'closed',
      limits: [{ algorithm: 'token-bucket', name: 'burst', per: 'key', ratePerSecond: 2, burst: 100 }],
    });
    expect(policies.get('edge')).toMatchObject({ place: 'local' });
    expect(routes).toEqual([{ method: 'POST', path: '/uploads/*', policy: 'api', cost: 10 }]);
    expect([policy, address]).toEqual(['edge', { kind: 'server', url: redis }]);
  });

  it.each<[string, Readonly<Record<string, unknown>>]>([
    ['policies in Redis', { redis, policies: { api } }],
    ['local policies without Redis', { policies: { api: local } }],
    ['a unix socket', { redis: '/run/redis.sock', policies: { api } }],
    ['a Policing', { policing: { decide: () => {} }, policy: 'api' }],
    [
      'functions',
      { policies: { api: local }, cost: () => 1, caller: () => ({}), skip: () => true, onRefused: () => {} },
    ],
    ['options that are there and undefined', { policies: { api: local }, redis: undefined, cost: undefined }],
  ])('may be %s', (_, options) => {
    expect(faults(options)).toEqual([]);
  });

  it.each<[string, Readonly<Record<string, unknown>>, string[]]>([
    ['nothing', {}, ['policies: required, unless policing is there']],
    ['no policy', { redis, policies: {} }, ['policies: expected at least one policy']],
    ['a slip', { policies: { api: local }, polcy: 'api' }, ['polcy: unknown option; did you mean "policy"?']],
    [
      'a slip in a policy',
      { redis, policies: { api: { ...api, brust: 2 } } },
      ['policies.api.brust: unknown field; did you mean "burst"?'],
    ],
    [
      'a bare rate',
      { redis, policies: { api: { rate: 2 } } },
      [expect.stringMatching(/^policies\.api\.rate: expected .*2/)],
    ],
    [
      'an endless rate',
      { redis, policies: { api: { rate: Number.NaN } } },
      [expect.stringMatching(/^policies\.api\.rate: /)],
    ],
    [
      'no Redis',
      { policies: { edge: local, api } },
      ['redis: required; only policies with algorithm local do without it, and api is not'],
    ],
    [
      'the embedded Redis',
      { redis: 'embedded', policies: { api } },
      ['redis: a plugin has no embedded Redis; expected the address of one'],
    ],
    [
      'no address',
      { redis: 'localhost:6379', policies: { api } },
      [
        'redis: expected embedded, redis://HOST[:PORT][/DB], rediss://HOST[:PORT][/DB] or a unix socket (unix:///PATH, /PATH or ./PATH); did you mean redis://localhost:6379?',
      ],
    ],
    [
      'a policy that there is not',
      { redis, policies: { api }, policy: 'apii' },
      ['policy: there is no policy "apii"; did you mean "api"?'],
    ],
    [
      'a route without such a policy',
      { policies: { api: local }, routes: [{ path: '/a', policy: 'b' }] },
      [expect.stringMatching(/^routes\[0\]\.policy: there is no policy "b"/)],
    ],
    [
      'two routes alike',
      {
        policies: { api: local },
        routes: [
          { path: '/a', policy: 'api' },
          { path: '/a', policy: 'api' },
        ],
      },
      ['routes[1].path: a route for /a and the same method stands here already'],
    ],
    [
      'a Policing and policies',
      { policing: { decide: () => {} }, policies: { api: local } },
      ['policies: say policing or policies, not both'],
    ],
    [
      'a Policing without the policy',
      { policing: { decide: () => {} }, policy: 'b' },
      ['policy: there is no policy "b"'],
    ],
    ['something else for a Policing', { policing: 'api' }, ['policing: expected an open Policing']],
    [
      'a route whose requests can never pass',
      { policies: { api: local }, routes: [{ path: '/a', policy: 'api', cost: 101 }] },
      ['routes[0].cost: costs 101; policy api lets 100 pass at once, for any caller'],
    ],
    [
      'a cost that can never pass',
      { policies: { api: local }, policy: 'api', cost: 101 },
      ['cost: costs 101; policy api lets 100 pass at once, for any caller'],
    ],
    ['a cost of 0', { policies: { api: local }, cost: 0 }, ['cost: expected a number or a function']],
    ['a cost in words', { policies: { api: local }, cost: '1' }, ['cost: expected a number or a function']],
    [
      'a caller that is no function',
      { policies: { api: local }, caller: { tenant: 'a' } },
      ['caller: expected a function'],
    ],
    ['a list of policies', { policies: [local] }, [expect.stringMatching(/^policies: expected a mapping/)]],
    [
      'several faults',
      { policies: { api: local }, skip: 1, onRefused: 2 },
      ['skip: expected a function', 'onRefused: expected a function'],
    ],
  ])('are not %s', (_, options, expected) => {
    expect(faults(options)).toEqual(expected);
  });

  it('have to hold something to something, where nothing else can say', () => {
    expect(faults({ policies: { api: local } }, true)).toEqual([
      'policy: required, unless there are routes: nothing would be held to anything',
    ]);
    expect(faults({ policies: { api: local }, policy: 'api' }, true)).toEqual([]);
    expect(faults({ policies: { api: local }, routes: [{ path: '/a', policy: 'api' }] }, true)).toEqual([]);
  });

  it('do not repeat the password of Redis', () => {
    const [fault] = faults({ redis: 'redis://:secret@/x', policies: { api } });
    expect(fault).toMatch(/^redis: /);
    expect(fault).not.toContain('secret');
  });
});
