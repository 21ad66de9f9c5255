import Type from 'typebox';
import { apiKey, KEY_FORM } from './api-key.js';
import { ConnectionFields } from './connection-schema.js';
import { choice, entriesOf, flag, quantity, text } from './field.js';
import { LISTEN_FORM, type ListenAddress, listenAddress } from './listen-address.js';
import { name } from './name-field.js';
import { nameFault, tenantIdFault } from './names.js';
import { LONGEST_GRACE_MS } from './outside-settings.js';
import { PolicyFields } from './policy-schema.js';
import { profileFields } from './profile-schema.js';
import { RedisFields } from './redis-schema.js';
import { RouteFields } from './route-schema.js';
import { NETWORK_FORM, networks } from './trust-proxy.js';
import { TypeFields } from './type-schema.js';
import { TenantWebhookFields, WebhooksFields } from './webhook-schema.js';

const HOUR_MS = 3_600_000;
const MAX_SHARDS = 1024;
const NULL_IN_TENANT = 'null clears an override through the API; in the file, leave the field out';

const key = (description: string) =>
  text<string>({
    decode: (written, { variables }) => apiKey(written, variables),
    expected: KEY_FORM,
    written: 'API key, or `env:NAME`',
    secret: true,
    standIn: '',
    description,
  });

const network = text<readonly string[]>({
  decode: networks,
  expected: NETWORK_FORM,
  written: '`loopback`, address or network',
  standIn: [],
  description: 'Proxies whose word is believed.',
});

const allow = Type.Optional(
  Type.Array(name('A type.'), {
    description: 'Types that may be used; all of them unless stated. Others are answered 403.',
  }),
);

/** A key for all types that workers elsewhere serve, or for these. */
const WorkerKeyFields = Type.Union(
  [
    key('A key for every type.'),
    Type.Object({
      key: key('A key of a worker.'),
      types: Type.Array(name('A type.'), { description: 'Types whose jobs may be taken with it.' }),
    }),
  ],
  { expected: `${KEY_FORM}, or {key, types: [TYPE]}`, written: 'API key, `env:NAME`, or mapping', standIn: '' },
);
export type WorkerKeyFields = Type.Static<typeof WorkerKeyFields>;

export const TierFields = Type.Object({ ...profileFields(), allow });
export type TierFields = Type.Static<typeof TierFields>;

export const TenantFields = Type.Object({
  tier: Type.Optional(name('The tier whose profile the tenant has; `defaultTier` unless stated.')),
  key: Type.Optional(key('The API key that proves the tenant; valid only while it stands here.')),
  keys: Type.Optional(Type.Array(key('An API key.'), { description: 'Several keys, in place of `key`.' })),
  allow,
  ...profileFields(NULL_IN_TENANT),
  types: Type.Optional(
    entriesOf(Type.Object(profileFields(NULL_IN_TENANT)), {
      nameFault,
      mandatory: false,
      description: 'Profile fields that hold for one type only, by name of the type.',
    }),
  ),
  webhook: Type.Optional(TenantWebhookFields),
});
export type TenantFields = Type.Static<typeof TenantFields>;

/** The configuration file: the one place that knows its fields, their units, ranges, defaults and meaning. */
export const ConfigFields = Type.Object({
  redis: RedisFields,
  listen: text<ListenAddress>({
    decode: listenAddress,
    expected: LISTEN_FORM,
    written: 'HOST:PORT',
    default: { host: '127.0.0.1', port: 8080 },
    defaultText: '127.0.0.1:8080',
    description: 'Where the API listens; port 0 is any free one.',
  }),
  shards: Type.Optional(
    quantity('count', {
      least: 1,
      most: MAX_SHARDS,
      description:
        'Over how many shards the tenants of each type are spread, each with its keys in one slot; fixed when the data is made. 16 on a cluster unless stated, else 1.',
    }),
  ),
  durability: choice(['everysec', 'always'], {
    default: 'everysec',
    description: 'How often the embedded Redis writes to disk: once a second, or before every answer.',
  }),
  memory: Type.Object({
    highWater: quantity('number', {
      least: 0.1,
      most: 1,
      default: 0.9,
      description: "Share of Redis' `maxmemory` in use above which no job is admitted; work goes on.",
    }),
    highWaterBytes: Type.Optional(
      quantity('size', {
        least: 1024 ** 2,
        most: 1024 ** 5,
        description: 'The same in bytes, for a Redis without `maxmemory`; the lower of the two holds.',
      }),
    ),
    allowEviction: flag({
      default: false,
      description: 'Whether to run on a Redis whose `maxmemory-policy` may throw away jobs (`--allow-eviction`).',
    }),
  }),
  metrics: Type.Object({
    tenants: quantity('count', {
      least: 0,
      most: 1000,
      default: 50,
      description:
        'How many tenants have series of their own in `/metrics` of each process; the rest is summed as `other`.',
    }),
    open: flag({
      default: false,
      description: "Whether the API's `/metrics` needs no admin key; it shows names of tenants.",
    }),
  }),
  dashboard: flag({
    default: true,
    description: 'Whether the API shows the dashboard at `/`, and lets people sign in.',
  }),
  lockDuration: quantity('duration', {
    least: 500,
    most: HOUR_MS,
    default: 30_000,
    description: 'How long a running job stays locked without a sign of its worker.',
  }),
  stalledInterval: quantity('duration', {
    least: 100,
    most: HOUR_MS,
    default: 30_000,
    description: 'How often jobs whose lock ran out are looked for.',
  }),
  forsakenAfter: quantity('duration', {
    least: 20_000,
    most: 30 * 24 * HOUR_MS,
    default: 600_000,
    description:
      'When no process has served a type for so long that is not in the configuration any more, what waits in it fails.',
  }),
  shutdownGrace: quantity('duration', {
    least: 0,
    most: LONGEST_GRACE_MS,
    default: 30_000,
    description: 'How long an orderly stop waits for what runs before it hands the jobs back; `--shutdown-grace` wins.',
  }),
  admin: Type.Object({
    keys: Type.Array(key('An admin key.'), {
      default: [],
      description: 'API keys that may act for every tenant; `HEADGATE_ADMIN_KEY` is one more.',
    }),
  }),
  gateways: Type.Object({
    keys: Type.Array(key('A key of a gateway.'), {
      default: [],
      description: 'API keys of gateways that may ask `/v1/forward-auth` about the callers in front of them.',
    }),
  }),
  workers: Type.Object({
    keys: Type.Array(WorkerKeyFields, {
      default: [],
      description:
        'API keys of workers elsewhere, which take jobs of types without a handler over HTTP; a mapping of `key` and `types` binds one to these types.',
    }),
  }),
  connections: ConnectionFields,
  trustProxy: Type.Union(
    [
      flag({ only: false, default: false, description: 'Nobody is believed.' }),
      quantity('count', { least: 1, most: 10, description: 'Proxies in a row before this process.' }),
      network,
      Type.Array(network, { description: 'Several of them.' }),
    ],
    {
      default: false,
      expected:
        'false, loopback, an address, a network such as 10.0.0.0/8, a list of these, or a number of proxies from 1 to 10',
      written: '`false`, proxies, or a number of them',
      description:
        "Whose `X-Forwarded-For` is believed: nobody's, that of the proxies at these addresses, or that of so many in a row.",
    },
  ),
  types: entriesOf(TypeFields, {
    nameFault,
    mandatory: true,
    description: 'The job types, by name.',
  }),
  tiers: entriesOf(TierFields, {
    nameFault,
    mandatory: false,
    description: 'Profiles that many tenants share, by name.',
  }),
  defaultTier: name(
    'The tier of a tenant who names none; `default` is there unasked, with the default of every field.',
    'default',
  ),
  tenants: entriesOf(TenantFields, {
    nameFault: tenantIdFault,
    mandatory: false,
    description: 'Tenants by id: 1 to 128 bytes of UTF-8, any characters.',
  }),
  policies: entriesOf(PolicyFields, {
    nameFault,
    mandatory: false,
    description: 'What callers are held to: now or 429; by name.',
  }),
  routes: Type.Array(RouteFields, {
    default: [],
    description: 'Which requests are held to which policy, and what they cost.',
  }),
  webhooks: WebhooksFields,
});
export type ConfigFields = Type.Static<typeof ConfigFields>;
