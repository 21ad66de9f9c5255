import { setTimeout as pause } from 'node:timers/promises';
import type { ChaosSystem } from './chaos-system.js';
import type { Random } from './random.js';
import { APIS, WORKERS } from './terms.js';

/** One way to break the system. */
export interface Fault {
  readonly name: string;
  /** How often it is drawn, against the others. */
  readonly weight: number;
  /** The others go on meanwhile: recovery counts from the blow, not from when all is whole again. */
  readonly othersGoOn?: true;
  /** Breaks it, for a while, and makes it whole again. */
  strike(system: ChaosSystem, random: Random): Promise<void>;
}

/** Everything that a run of chaos does to the system. */
export const FAULTS: readonly Fault[] = [
  {
    name: 'worker killed',
    weight: 4,
    othersGoOn: true,
    strike: async (system, random) => {
      const which = random.whole(0, WORKERS - 1);
      await system.workers[which]?.kill();
      await pause(random.whole(0, 2000));
      await system.startWorker(which);
    },
  },
  {
    name: 'API killed',
    weight: 2,
    strike: async (system, random) => {
      const which = random.whole(0, APIS - 1);
      await system.apis[which]?.kill();
      await pause(random.whole(0, 1000));
      await system.startApi(which);
    },
  },
  {
    name: 'Redis killed',
    weight: 4,
    strike: async (system, random) => {
      await system.killRedis();
      await pause(random.whole(0, 2500));
      await system.startRedisAgain();
    },
  },
  {
    name: 'connections cut',
    weight: 2,
    strike: async ({ proxy }) => proxy.cut(),
  },
  {
    name: 'replies swallowed, then cut',
    weight: 3,
    strike: async ({ proxy }, random) => {
      proxy.swallow('replies');
      await pause(random.whole(100, 1500));
      proxy.cut();
      await proxy.pass();
    },
  },
  {
    name: 'packets swallowed',
    weight: 2,
    strike: async ({ proxy }, random) => {
      proxy.swallow(random.pick(['requests', 'replies', 'both']));
      await pause(random.whole(500, 6000));
      await proxy.pass();
    },
  },
  { name: 'connections forgotten', weight: 1, strike: async ({ proxy }) => proxy.forget() },
  {
    name: 'connections reset',
    weight: 1,
    strike: async ({ proxy }, random) => {
      proxy.reset();
      await pause(random.whole(500, 3000));
      await proxy.pass();
    },
  },
  {
    name: 'connections refused',
    weight: 1,
    strike: async ({ proxy }, random) => {
      await proxy.refuse();
      await pause(random.whole(500, 3000));
      await proxy.pass();
    },
  },
  {
    name: 'network slow',
    weight: 1,
    strike: async ({ proxy }, random) => {
      proxy.delay(random.whole(20, 150));
      await pause(random.whole(1000, 3000));
      await proxy.pass();
    },
  },
  {
    name: 'functions flushed',
    weight: 2,
    strike: async ({ redis }) => {
      const client = redis.client();
      await client.function('FLUSH');
      await client.script('FLUSH');
      client.disconnect();
    },
  },
  {
    name: 'Redis read-only',
    weight: 1,
    strike: async ({ redis }, random) => {
      const client = redis.client();
      // A master that is not there: the data stays, and nothing may be written.
      await client.replicaof('127.0.0.1', 1);
      await pause(random.whole(300, 2000));
      await client.replicaof('NO', 'ONE');
      client.disconnect();
    },
  },
  {
    name: 'memory full',
    weight: 1,
    strike: async ({ redis }, random) => {
      const client = redis.client();
      await client.config('SET', 'maxmemory', '1');
      await pause(random.whole(300, 2000));
      await client.config('SET', 'maxmemory', '0');
      client.disconnect();
    },
  },
  {
    name: "a worker's clock stepped",
    weight: 1,
    strike: async ({ clock }, random) => clock.set(random.pick([-3600, -5, 0, 5, 3600])),
  },
  {
    name: 'worker stood still',
    weight: 2,
    othersGoOn: true,
    strike: async ({ workers }, random) => standStill([random.pick(workers).pid], random.whole(500, 5000)),
  },
  {
    name: 'API stood still',
    weight: 1,
    strike: async ({ apis }, random) => standStill([random.pick(apis).pid], random.whole(500, 3000)),
  },
  {
    name: 'Redis stood still',
    weight: 1,
    strike: async ({ redis }, random) => standStill([redis.pid], random.whole(500, 5000)),
  },
];

/** Faults in the order of a seed: as often as each weighs before all begin anew, so that a long run has seen every one. */
export function* drawn(random: Random): Generator<Fault, never> {
  for (;;) {
    const urn = FAULTS.flatMap((fault) => Array.from({ length: fault.weight }, () => fault));
    while (urn.length > 0) {
      const [fault] = urn.splice(random.whole(0, urn.length - 1), 1);
      if (fault !== undefined) yield fault;
    }
  }
}

async function standStill(pids: readonly number[], ms: number): Promise<void> {
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  await pause(ms);
  for (const pid of pids) process.kill(pid, 'SIGCONT');
}
