import Type from 'typebox';
import { DEFAULT_CAPACITY, DEFAULT_PROFILE } from '../model/profile.js';
import { choice, quantity } from './field.js';
import { MODES } from './mode.js';

const GB = 1024 ** 3;
const DAY_MS = 86_400_000;

/** The range of every rate of shaped work, in units or jobs per second. */
export const RATE_RANGE = { least: 1e-4, most: 1e5, zero: 'paused', unlimited: true } as const;
const BURST_RANGE = { least: 1, most: 1e9 } as const;
const CONCURRENCY_RANGE = { least: 1, most: 1e6, unlimited: true } as const;

/**
 * The fields of a profile as a tier or tenant states them: all optional, since what is not stated comes from the next
 * layer. `onNull` is told to who writes `null`.
 */
export function profileFields(onNull?: string) {
  return {
    rate: Type.Optional(
      quantity('rate', {
        ...RATE_RANGE,
        onNull,
        default: DEFAULT_PROFILE.ratePerSecond,
        description: 'Cost units per second that may leave the bucket; with `unlimited` only fair sharing is left.',
      }),
    ),
    burst: Type.Optional(
      quantity('count', {
        ...BURST_RANGE,
        onNull,
        default: DEFAULT_PROFILE.burst,
        description: 'Cost units that may leave back to back; 1 spaces every start evenly.',
      }),
    ),
    jobRate: Type.Optional(
      quantity('rate', {
        ...RATE_RANGE,
        onNull,
        default: DEFAULT_PROFILE.jobRatePerSecond,
        description: 'A second limit, in jobs per second whatever they cost.',
      }),
    ),
    depth: Type.Optional(
      quantity('count', {
        least: 0,
        most: 1e7,
        onNull,
        default: DEFAULT_PROFILE.depth,
        description: 'Jobs that may wait, delayed ones included; beyond it the answer is 429.',
      }),
    ),
    maxBytes: Type.Optional(
      quantity('size', {
        least: 1,
        most: 1024 * GB,
        onNull,
        default: DEFAULT_PROFILE.maxBytes,
        description: 'Payload that may wait, delayed jobs included; beyond it the answer is 429.',
      }),
    ),
    maxWait: Type.Optional(
      quantity('duration', {
        least: 0,
        most: 365 * DAY_MS,
        unlimited: true,
        onNull,
        default: DEFAULT_PROFILE.maxWaitMs,
        description: 'Longest wait that is admitted; a job that would start later is answered 429.',
      }),
    ),
    weight: Type.Optional(
      quantity('number', {
        least: 1e-3,
        most: 1e6,
        onNull,
        default: DEFAULT_PROFILE.weight,
        description: 'Share of the workers when they are scarce, against the other tenants; never changes the rate.',
      }),
    ),
    concurrency: Type.Optional(
      quantity('count', {
        ...CONCURRENCY_RANGE,
        onNull,
        default: DEFAULT_PROFILE.concurrency,
        description: 'Jobs of the bucket that may run at once.',
      }),
    ),
    mode: Type.Optional(
      choice(MODES, {
        default: MODES[0],
        onNull,
        description:
          'Whether jobs above the rate wait (`shape`) or are refused (`police`); where no layer says, the type does.',
      }),
    ),
  };
}

/** A profile as far as it is stated. */
export const StatedProfile = Type.Object(profileFields());
export type StatedProfile = Type.Static<typeof StatedProfile>;

export const CapacityFields = Type.Object({
  rate: quantity('rate', {
    ...RATE_RANGE,
    default: DEFAULT_CAPACITY.ratePerSecond,
    description: 'Cost units per second of the type, over all tenants.',
  }),
  burst: quantity('count', {
    ...BURST_RANGE,
    default: DEFAULT_CAPACITY.burst,
    description: 'Cost units of the type that may leave back to back, over all tenants.',
  }),
  concurrency: quantity('count', {
    ...CONCURRENCY_RANGE,
    default: DEFAULT_CAPACITY.concurrency,
    description: 'Jobs of the type that may run at once, over all tenants and all worker processes.',
  }),
});
