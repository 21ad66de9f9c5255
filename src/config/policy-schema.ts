import Type from 'typebox';
import { choice, entriesOf, flag, quantity } from './field.js';
import { name } from './name-field.js';
import { nameFault } from './names.js';

const DAY_MS = 86_400_000;
const COUNT_RANGE = { least: 1, most: 1e9 } as const;

/** The algorithms by name: three whose limits stand in Redis, and two that keep token buckets elsewhere. */
export const ALGORITHMS = ['token-bucket', 'sliding-window-log', 'sliding-window-counter', 'local', 'leased'] as const;
export type Algorithm = (typeof ALGORITHMS)[number];

/** What a policy is unless it says otherwise. */
export const POLICY_DEFAULTS = {
  algorithm: 'token-bucket',
  maxKeys: 100_000,
  share: 1,
  leaseMs: 1000,
} as const satisfies { algorithm: Algorithm } & Record<string, unknown>;

/** One limit. Which fields go together is for `policy-relations` to say. */
const limitFields = () => ({
  algorithm: Type.Optional(
    choice(ALGORITHMS, {
      default: POLICY_DEFAULTS.algorithm,
      description:
        'How calls are counted; each takes either `rate` and `burst`, or `limit` and `window`. `local` and `leased` are said for the policy as a whole.',
    }),
  ),
  rate: Type.Optional(
    quantity('rate', {
      least: 1e-6,
      most: 1e6,
      unlimited: true,
      description: 'Units per second in the long run, for buckets; `unlimited` is no limit at all.',
    }),
  ),
  burst: Type.Optional(
    quantity('count', {
      ...COUNT_RANGE,
      description: 'Units at once, for buckets; unless stated, those of one second, rounded up.',
    }),
  ),
  limit: Type.Optional(quantity('count', { ...COUNT_RANGE, description: 'Units in every window, for windows.' })),
  window: Type.Optional(
    quantity('duration', { least: 1, most: 365 * DAY_MS, description: 'The length of the window, for windows.' }),
  ),
  per: Type.Optional(
    choice(['key', 'policy'], {
      default: 'key',
      description: 'Whether every caller has a limit of its own, or all callers of the policy share one.',
    }),
  ),
  name: Type.Optional(
    name(
      'Its name in the `RateLimit` headers; unless stated, `burst` or `window`, with `-2`, `-3` … for more of them.',
    ),
  ),
});

/** In one `all`. */
export const MOST_LIMITS = 8;

/** A limit of several. */
export const LimitFields = Type.Object(limitFields());
export type LimitFields = Type.Static<typeof LimitFields>;

const statement = () => ({
  ...limitFields(),
  all: Type.Optional(
    Type.Array(LimitFields, {
      expected: `a list of 1 to ${MOST_LIMITS} limits`,
      description: 'One to eight limits decided together, in place of a single one: refused by one, charged to none.',
    }),
  ),
});

/** What callers are held to: one limit, or several. */
export const LimitsFields = Type.Object(statement());
export type LimitsFields = Type.Static<typeof LimitsFields>;

/** A policy as the file states it. */
export const PolicyFields = Type.Object({
  ...statement(),
  byTier: entriesOf(LimitsFields, {
    nameFault,
    mandatory: false,
    description:
      'Other limits for callers of a tier, by its name, stated in full; `anonymous` are callers without the key of a tenant.',
  }),
  onOutage: choice(['open', 'closed', 'local'], {
    default: 'open',
    description:
      'While Redis is away: let all pass, refuse all with 503, or decide by the same limits in each process alone.',
  }),
  enforce: flag({
    default: true,
    description: 'With `false` the policy decides and counts, but lets every call pass.',
  }),
  retryJitter: quantity('number', {
    least: 0,
    most: 1,
    default: 0,
    description:
      'Spreads Retry-After evenly over this fraction of itself, upwards, so that callers do not return together.',
  }),
  deadline: quantity('duration', {
    least: 1,
    most: 5000,
    default: 30,
    description: 'How long an answer of Redis is waited for before `onOutage` decides.',
  }),
  maxKeys: Type.Optional(
    quantity('count', {
      least: 1,
      most: 1e7,
      default: POLICY_DEFAULTS.maxKeys,
      description: 'With `local`: callers that are remembered; the one idle for longest is forgotten first.',
    }),
  ),
  share: Type.Optional(
    quantity('number', {
      least: 0.001,
      most: 1,
      default: POLICY_DEFAULTS.share,
      description: "With `local`: the part of every limit that is this process's, such as 0.25 with four processes.",
    }),
  ),
  lease: Type.Optional(
    quantity('duration', {
      least: 100,
      most: 60_000,
      default: POLICY_DEFAULTS.leaseMs,
      description: 'With `leased`: how long a process may keep units that it took in advance.',
    }),
  ),
});
export type PolicyFields = Type.Static<typeof PolicyFields>;
