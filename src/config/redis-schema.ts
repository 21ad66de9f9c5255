import Type from 'typebox';
import { fromEnvironment } from './api-key.js';
import { type Decoded, quantity, type TextContext, text } from './field.js';
import type { ListenAddress } from './listen-address.js';
import {
  NODE_FORM,
  REDIS_FORMS,
  type RedisAddress,
  redisAddress,
  redisNode,
  SERVER_FORMS,
  serverAddress,
} from './redis-address.js';
import { certificatesOf, passwordOf, privateKeyOf } from './redis-files.js';

const PREFIX_FORM = '1 to 64 letters, digits and . _ - : /';

/** `env:NAME` stands for what the variable holds. */
function orVariable<T>(decode: (written: string, folder: string) => Decoded<T>) {
  return (written: string, { folder, variables }: TextContext): Decoded<T> => {
    const name = /^env:([A-Za-z_][A-Za-z0-9_]*)$/.exec(written)?.[1];
    if (name === undefined) return decode(written, folder);
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    return value ? decode(value, folder) : { fault: `the environment variable ${name} is not set` };
  };
}

const secret = (written: string, { variables }: TextContext): Decoded<string> =>
  fromEnvironment(written, variables, (value) => ({ value }));

const file = (decode: typeof passwordOf, description: string) =>
  Type.Optional(text<string>({ decode, expected: 'the path of a file', written: 'path', standIn: '', description }));

const login = (whose: string) => ({
  username: Type.Optional(
    text<string>({
      decode: secret,
      expected: 'a name, or env:NAME',
      written: 'name, or `env:NAME`',
      standIn: '',
      description: `The user of ${whose} (ACL); \`default\` unless stated.`,
    }),
  ),
  password: Type.Optional(
    text<string>({
      decode: secret,
      expected: 'a password (only digits: in quotes), or env:NAME',
      written: 'password, or `env:NAME`',
      secret: true,
      standIn: '',
      description: 'The password of that user.',
    }),
  ),
  passwordFile: file(passwordOf, 'A file whose one line is the password, in place of `password`.'),
});

const nodes = (description: string) =>
  Type.Array(
    text<ListenAddress>({
      decode: redisNode,
      expected: NODE_FORM,
      written: 'HOST:PORT',
      standIn: { host: '', port: 1 },
      description: 'One of them.',
    }),
    { description },
  );

const access = {
  ...login('the Redis'),
  tls: Type.Optional(
    Type.Object({
      ca: file(
        certificatesOf,
        'Certificates of the authorities that are believed, PEM; those that Node knows unless stated.',
      ),
      cert: file(certificatesOf, 'The certificate that Headgate shows, PEM.'),
      key: file(privateKeyOf, 'Its private key, PEM.'),
      serverName: Type.Optional(
        text<string>({
          decode: (written) => ({ value: written }),
          expected: 'a host name',
          written: 'name',
          description: "The name that the server's certificate has to have; the host unless stated.",
        }),
      ),
    }),
  ),
  keyPrefix: Type.Optional(
    text<string>({
      decode: keyPrefix,
      expected: PREFIX_FORM,
      written: 'text such as `shop:`',
      standIn: '',
      description: 'What every key and channel begins with, as it stands, on a Redis that others use too.',
    }),
  ),
  waitForReplicas: Type.Optional(
    quantity('count', {
      least: 1,
      most: 10,
      description:
        'Replicas that have to hold a job before it is answered 202; if they do not in time, the answer is 503.',
    }),
  ),
};

/** One server, with what does not fit into a URL. */
export const RedisServerFields = Type.Object({
  url: text({
    decode: orVariable((written, folder) => serverAddress(written, folder)),
    expected: SERVER_FORMS,
    written: 'address, or `env:NAME`',
    secret: true,
    standIn: { kind: 'server' as const, url: 'redis://localhost' },
    description:
      'Where it is: `redis://HOST[:PORT][/DB]`, the same with `rediss://` for TLS, or the path of a unix socket.',
  }),
  ...access,
});
export type RedisServerFields = Type.Static<typeof RedisServerFields>;

/** The master that Sentinels name. */
export const RedisSentinelFields = Type.Object({
  sentinel: Type.Object({
    name: text<string>({
      decode: (written) => ({ value: written }),
      expected: 'the name of the master',
      written: 'name',
      standIn: '',
      description: 'What the Sentinels call the master.',
    }),
    nodes: nodes('The Sentinels; those that they know of are found by themselves.'),
    db: Type.Optional(
      quantity('count', { least: 0, most: 99_999, description: 'Number of the database; 0 unless stated.' }),
    ),
    ...login('the Sentinels'),
  }),
  ...access,
});
export type RedisSentinelFields = Type.Static<typeof RedisSentinelFields>;

/** A cluster. */
export const RedisClusterFields = Type.Object({
  cluster: nodes('Some of its nodes; the others are found by themselves.'),
  ...access,
});
export type RedisClusterFields = Type.Static<typeof RedisClusterFields>;

/** Which Redis to use: an address alone, or one of three mappings. */
export const RedisFields = Type.Union(
  [
    text<RedisAddress>({
      decode: orVariable(redisAddress),
      expected: REDIS_FORMS,
      written: 'address',
      secret: true,
      standIn: { kind: 'embedded' },
      description: 'The address alone.',
    }),
    RedisServerFields,
    RedisSentinelFields,
    RedisClusterFields,
  ],
  {
    default: { kind: 'embedded' } satisfies RedisAddress,
    defaultText: 'embedded',
    expected: `${REDIS_FORMS}, or a mapping with url, sentinel or cluster`,
    written: 'address or mapping',
    description:
      'The Redis to use: `embedded`, `redis://…`, `rediss://…`, the path of a unix socket, `env:NAME`, or one of the three forms below; `REDIS_URL` wins over `embedded`.',
  },
);
export type RedisFields = Type.Static<typeof RedisFields>;

function keyPrefix(written: string): Decoded<string> {
  if (/[{}]/.test(written)) {
    return { fault: 'a key prefix has no braces: what stands between braces decides where a cluster keeps a key' };
  }
  if (/^[A-Za-z0-9._:/-]{1,64}$/.test(written)) return { value: written };
  return { fault: `expected ${PREFIX_FORM}; got ${JSON.stringify(written.slice(0, 80))}` };
}
