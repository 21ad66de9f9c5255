import type { Admitted, NewJob } from '../../../src/model/verdict.js';
import type { DoorAnswer, Shaping } from '../../../src/shaping/shaping.js';

/** One call to the port. */
export interface Admit {
  readonly type: string;
  readonly tenant: string;
  readonly jobs: readonly NewJob[];
}

/** What a test wants the port to answer; the rest admits everything and holds nothing. */
export type Script = Partial<Shaping>;

/**
 * Not a queue: it answers what the test says, so that HTTP can be tested on answers that are hard to bring about
 * (outages half way, buckets that are paused, instants past the year 9999). What a queue does is tested on Redis.
 */
export function scriptedShaping(script: Script = {}): { shaping: Shaping; admits: Admit[] } {
  const admits: Admit[] = [];
  const shaping: Shaping = {
    knows: async (_type, _tenant, idempotencyKeys) => idempotencyKeys.map(() => false),
    job: async () => undefined,
    output: async () => [],
    jobs: async () => ({ jobs: [] }),
    cancel: async () => 'not_found',
    retry: async () => ({ verdict: 'not_found' }),
    retryFailed: async () => ({ retried: 0 }),
    quote: unscripted,
    bucket: unscripted,
    buckets: async () => ({ buckets: [] }),
    type: unscripted,
    ping: async () => undefined,
    ...script,
    admit: async (type, tenant, jobs) => {
      admits.push({ type, tenant, jobs });
      return script.admit === undefined ? admitAll(jobs) : script.admit(type, tenant, jobs);
    },
  };
  return { shaping, admits };
}

/** Admits every job, at 2 s each. */
export function admitAll(jobs: readonly NewJob[]): DoorAnswer {
  return { admissions: jobs.map(({ id }, index) => admitted(id, index + 1)), depth: 50, freePlaces: 50 - jobs.length };
}

export function admitted(id: string, position: number): Admitted {
  const waitMs = position * 2000;
  return {
    verdict: 'admitted',
    id,
    replayed: false,
    state: 'waiting',
    promise: { position, releaseAtMs: Date.UTC(2026, 11, 1) + waitMs, waitMs, basis: 'rate', releaseBetweenMs: null },
  };
}

async function unscripted(): Promise<never> {
  throw new Error('the test did not say what to answer');
}
