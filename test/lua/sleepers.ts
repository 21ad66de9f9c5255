import fc from 'fast-check';
import type { Profile } from '../../src/model/profile.js';
import type { Dispatched } from '../../src/shaping/scripts.js';
import type { Outcome } from '../../src/shaping/work-source.js';
import { shotOfRedis } from './differential/snapshot.js';
import type { ScriptShard } from './script-shard.js';
import { wakeUps } from './wake-ups.js';

const TENANTS = ['a', 'b', 'c'] as const;

/** What happens around workers that sleep. A `pick` names one of those that run something, modulo how many there are. */
export type Happening =
  | {
      readonly what: 'admit';
      readonly tenant: string;
      readonly jobs: number;
      readonly delayMs: number;
      readonly profile: Partial<Profile>;
    }
  | { readonly what: 'settle'; readonly pick: number; readonly outcome: Outcome; readonly leave: boolean }
  | { readonly what: 'charge'; readonly pick: number; readonly cost: number }
  | { readonly what: 'cancel'; readonly tenant: string }
  | { readonly what: 'retime'; readonly tenant: string; readonly profile: Partial<Profile> }
  | { readonly what: 'pause'; readonly tenant: string; readonly stopped: boolean }
  | { readonly what: 'crash'; readonly pick: number }
  | { readonly what: 'configure'; readonly concurrency: number; readonly emissionUs: number }
  | { readonly what: 'pass'; readonly us: number };

const tenant = fc.constantFrom(...TENANTS);
const profile = fc.record({
  ratePerSecond: fc.constantFrom(1, 4, Infinity),
  concurrency: fc.constantFrom(Infinity, 1, 2),
});
const OFTEN: readonly Outcome[] = [
  { kind: 'completed', value: '1' },
  { kind: 'return', value: '' },
  { kind: 'retry', value: '', delayMs: 100, front: false },
];
const outcome: fc.Arbitrary<Outcome> = fc.constantFrom<Outcome>(
  ...[...OFTEN, ...OFTEN, ...OFTEN],
  { kind: 'busy', value: '', holdMs: 300, scope: 'bucket' },
  { kind: 'busy', value: '', holdMs: 0, scope: 'bucket' },
  { kind: 'busy', value: '', holdMs: 200, scope: 'type' },
);

export const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      what: fc.constant('admit' as const),
      tenant,
      jobs: fc.integer({ min: 1, max: 3 }),
      delayMs: fc.constantFrom(0, 0, 150),
      profile,
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      what: fc.constant('settle' as const),
      pick: fc.nat(9),
      outcome,
      leave: fc.constantFrom(false, false, true),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      what: fc.constant('charge' as const),
      pick: fc.nat(9),
      cost: fc.constantFrom(0.1, 0.1, 20),
    }),
  },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('cancel' as const), tenant }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('retime' as const), tenant, profile }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('pause' as const), tenant, stopped: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('crash' as const), pick: fc.nat(9) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      what: fc.constant('configure' as const),
      concurrency: fc.constantFrom(1, 2, 3),
      emissionUs: fc.constantFrom(0, 40_000, 40_000, Infinity),
    }),
  },
  { weight: 4, arbitrary: fc.record({ what: fc.constant('pass' as const), us: fc.integer({ min: 1, max: 700_000 }) }) },
);

/** The type's limits, at first. */
const CAPACITY = { concurrency: 2, emissionUs: 40_000, burst: 4 };

interface Worker {
  /** It left or died, and nobody has taken its place yet. */
  gone: boolean;
  run: { token: string; tenant: string; id: string } | undefined;
  /** When its own timer fires; it looks then, and whenever it is woken. */
  looksAtUs: number;
}

/** All idle workers sleep past an instant at which something may start. */
export class Overslept extends Error {}

/**
 * Lives through `happenings` with some workers of one slot each, that sleep for as long as the scripts tell them to and look
 * when they are woken. Throws {@link Overslept} when all that are idle would sleep past an instant at which something may
 * start.
 */
export async function nobodyOversleeps(shard: ScriptShard, happenings: readonly Happening[]): Promise<void> {
  let capacity = CAPACITY;
  await shard.configure(capacity);
  const ears = await wakeUps(shard);
  const workers: Worker[] = Array.from({ length: 4 }, () => ({ gone: false, run: undefined, looksAtUs: 0 }));
  const idle = (): Worker[] => workers.filter(({ gone, run }) => !gone && run === undefined);
  let ids = 0;

  const heed = (worker: Worker, token: string, found: Dispatched): void => {
    worker.run = found.kind === 'job' ? { token, tenant: found.tenant, id: found.id } : undefined;
    worker.looksAtUs = found.kind === 'job' || found.waitUs === null ? Infinity : shard.nowUs + found.waitUs;
  };
  const nextId = (): string => {
    ids += 1;
    return String(ids).padStart(6, '0');
  };
  const look = async (worker: Worker): Promise<void> => {
    const token = `t${nextId()}`;
    heed(worker, token, await shard.dispatch(token));
  };
  /** Whoever has a reason to look looks, until nobody has. */
  const settleDown = async (): Promise<void> => {
    for (let rounds = 0; rounds < 50; rounds += 1) {
      const woken = (await ears.heard()).includes('wake');
      const awake = idle().filter(({ looksAtUs }) => woken || looksAtUs <= shard.nowUs);
      if (awake.length === 0) return;
      for (const worker of awake) await look(worker);
    }
    throw new Error('the workers find no rest');
  };

  try {
    for (const worker of workers) await look(worker);
    for (const happening of happenings) {
      const busy = workers.filter(({ run }) => run !== undefined);
      await happen(shard, happening, busy, { heed, nextId });
      if (happening.what === 'configure') capacity = { ...CAPACITY, ...happening };
      // In time every worker is replaced by one that looks as soon as it is there.
      if (happening.what === 'pass') for (const worker of workers) replace(worker);
      await settleDown();
      const { runs, ready, due, typeTatUs, typeHeldUntilUs } = await shotOfRedis(shard, TENANTS);
      const { burst, concurrency, emissionUs } = capacity;
      if (Object.keys(runs).length >= concurrency || emissionUs === Infinity || idle().length === 0) continue;
      const opensAtUs = Math.max(typeTatUs - (burst - 1) * emissionUs, typeHeldUntilUs);
      const startsAtUs =
        Object.keys(ready).length > 0 ? opensAtUs : Math.max(opensAtUs, ...[Math.min(Infinity, ...Object.values(due))]);
      const looksAtUs = Math.min(...idle().map((worker) => worker.looksAtUs));
      if (looksAtUs > Math.max(startsAtUs, shard.nowUs) + 1) {
        throw new Overslept(`something may start at ${startsAtUs}, but the first to look looks at ${looksAtUs}`);
      }
    }
  } finally {
    ears.close();
  }
}

function replace(worker: Worker): void {
  if (worker.gone) worker.looksAtUs = 0;
  worker.gone = false;
}

async function happen(
  shard: ScriptShard,
  happening: Happening,
  busy: readonly Worker[],
  { heed, nextId }: { heed: (worker: Worker, token: string, found: Dispatched) => void; nextId: () => string },
): Promise<void> {
  switch (happening.what) {
    case 'admit': {
      const jobs = Array.from({ length: happening.jobs }, () => ({ id: nextId(), delayMs: happening.delayMs }));
      await shard.admit(happening.tenant, jobs, happening.profile);
      return;
    }
    case 'settle': {
      const worker = busy[happening.pick % busy.length];
      if (!worker?.run) return;
      const token = `t${nextId()}`;
      const { next } = await shard.settle(worker.run, happening.outcome, happening.leave ? '' : token);
      heed(worker, token, next);
      worker.gone = happening.leave;
      return;
    }
    case 'charge': {
      const worker = busy[happening.pick % busy.length];
      if (worker?.run) await shard.charge(worker.run.token, happening.cost);
      return;
    }
    case 'cancel': {
      const [id] = await shard.waiting(happening.tenant);
      if (id !== undefined) await shard.cancel(happening.tenant, id);
      return;
    }
    case 'retime':
      await shard.retime(happening.tenant, happening.profile);
      return;
    case 'pause':
      await shard.pause(happening.tenant, happening.stopped);
      return;
    case 'crash': {
      const worker = busy[happening.pick % busy.length];
      if (!worker?.run) return;
      await shard.dropLock(worker.run.tenant, worker.run.id);
      worker.run = undefined;
      worker.gone = true;
      await shard.recover(100);
      return;
    }
    case 'configure':
      await shard.configure({ ...CAPACITY, ...happening });
      return;
    case 'pass':
      shard.nowUs += happening.us;
  }
}
