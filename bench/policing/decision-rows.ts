import { middle, ratio, shown, table } from '../markdown.js';
import type { Decisions, DecisionsOptions } from './decisions.js';
import { take } from './take.js';

/** How calls come: from many keys or from one, within the limit or above it. */
export const LOADS = {
  many: { keys: 1000, quota: 'wide' },
  one: { keys: 1, quota: 'wide' },
  refused: { keys: 1000, quota: 'tight' },
} as const;
export type Load = keyof typeof LOADS;

interface Row {
  /** A peer that decides, or the store of a middleware, which counts and leaves the rest to that. */
  readonly kind: 'ours' | 'limiter' | 'store';
  readonly decisions: number;
}

export type Kind = 'limiter' | 'store';

/** What is asked over Redis, and how often it is asked. */
const OVER_REDIS: Readonly<Record<string, Row>> = {
  'token-bucket': { kind: 'ours', decisions: 40_000 },
  'sliding-window-counter': { kind: 'ours', decisions: 40_000 },
  'rate-limiter-flexible, Redis': { kind: 'limiter', decisions: 40_000 },
  'rate-limiter-flexible, Redis, auto-pipelining': { kind: 'limiter', decisions: 40_000 },
  'rate-limit-redis': { kind: 'store', decisions: 40_000 },
  'rate-limit-redis, auto-pipelining': { kind: 'store', decisions: 40_000 },
  '@fastify/rate-limit, Redis': { kind: 'store', decisions: 40_000 },
  '@fastify/rate-limit, Redis, auto-pipelining': { kind: 'store', decisions: 40_000 },
};

const IN_MEMORY: Readonly<Record<string, Row>> = {
  local: { kind: 'ours', decisions: 2_000_000 },
  'local, its policer alone': { kind: 'ours', decisions: 2_000_000 },
  leased: { kind: 'ours', decisions: 2_000_000 },
  'leased, its policer alone': { kind: 'ours', decisions: 2_000_000 },
  'rate-limiter-flexible, memory': { kind: 'limiter', decisions: 2_000_000 },
  'express-rate-limit, memory': { kind: 'store', decisions: 2_000_000 },
  '@fastify/rate-limit, memory': { kind: 'store', decisions: 2_000_000 },
};

/** Keys that nobody was asked for before, so many calls of each: how leases start, beside a limit that Redis is asked for always. */
const COLD: Readonly<Record<string, Row>> = {
  leased: { kind: 'ours', decisions: 24_000 },
  'token-bucket': { kind: 'ours', decisions: 24_000 },
};
const COLD_LOAD = { keys: 1000, quota: 'wide', callers: 64, timedCallers: 64, cold: true } as const;

export const GROUPS = { redis: OVER_REDIS, memory: IN_MEMORY } as const;
export type Group = keyof typeof GROUPS;

type Results = Map<string, Decisions[]>;

/** The decisions of all that are compared, run by run. */
export class DecisionRows {
  readonly #results: Results = new Map();
  readonly #socketPath: string;
  readonly #scale: number;

  /** @param scale What every number of decisions is multiplied by. */
  constructor(socketPath: string, scale: number) {
    this.#socketPath = socketPath;
    this.#scale = scale;
  }

  /** Measures everything once, one after another. */
  async run(): Promise<void> {
    for (const load of Object.keys(LOADS) as Load[]) {
      for (const group of Object.keys(GROUPS) as Group[]) {
        for (const contender of Object.keys(GROUPS[group])) await this.#measure(group, load, contender);
      }
    }
  }

  /** Measures how those begin that keep something in the process of what Redis holds. */
  async runCold(): Promise<void> {
    for (const [contender, { decisions }] of Object.entries(COLD)) {
      await this.#take(`cold ${contender}`, { contender, ...COLD_LOAD, decisions: decisions * this.#scale });
    }
  }

  /** The table of {@link runCold}. */
  coldTable(): string {
    const rows = Object.keys(COLD).map((contender) => {
      const results = this.#results.get(`cold ${contender}`) ?? [];
      const show = (read: (result: Decisions) => number) => shown(middle(results, read));
      return [
        contender,
        show(({ perSecond }) => perSecond),
        `${show(({ p50Us }) => p50Us)}, ${show(({ p99Us }) => p99Us)}`,
        show(({ redisUs }) => redisUs),
        show(({ nodeUs }) => nodeUs),
      ];
    });
    const heads = ['decisions/s', 'p50, p99 (µs)', 'Redis µs', 'Node µs'];
    return table(['1,000 new keys, 24 calls of each', ...heads], ...rows);
  }

  /** A table of one group: what a run's median is. */
  table(group: Group): string {
    const rows = Object.keys(GROUPS[group]).map((contender) => {
      const [many, one, refused] = [
        this.of(contender, 'many'),
        this.of(contender, 'one'),
        this.of(contender, 'refused'),
      ];
      const show = (results: readonly Decisions[], read: (result: Decisions) => number) => shown(middle(results, read));
      return [
        contender,
        show(many, ({ perSecond }) => perSecond),
        `${show(many, ({ p50Us }) => p50Us)}, ${show(many, ({ p99Us }) => p99Us)}`,
        show(many, ({ redisUs }) => redisUs),
        show(many, ({ nodeUs }) => nodeUs),
        show(one, ({ perSecond }) => perSecond),
        `${show(one, ({ p50Us }) => p50Us)}, ${show(one, ({ p99Us }) => p99Us)}`,
        show(refused, ({ perSecond }) => perSecond),
      ];
    });
    const heads = ['decisions/s, 1,000 keys', 'p50, p99 (µs)', 'Redis µs', 'Node µs'];
    return table(['', ...heads, 'decisions/s, one key', 'p50, p99 (µs)', 'decisions/s, refused'], ...rows);
  }

  /** `ours` over the fastest of the others of these kinds in its group, and which that is. */
  overFastest(ours: string, group: Group, load: Load, kinds: readonly Kind[]): readonly [number, string] {
    const others = Object.entries(GROUPS[group]).flatMap(([contender, { kind }]) =>
      kinds.some((wanted) => wanted === kind) ? [contender] : [],
    );
    const speed = (contender: string) => middle(this.of(contender, load), ({ perSecond }) => perSecond);
    const fastest = others.reduce((best, other) => (speed(other) > speed(best) ? other : best));
    return [ratio(this.of(ours, load), this.of(fastest, load), ({ perSecond }) => perSecond), fastest];
  }

  /** All measurements of one contender, run by run. */
  of(contender: string, load: Load): readonly Decisions[] {
    return this.#results.get(`${load} ${contender}`) ?? [];
  }

  async #measure(group: Group, load: Load, contender: string): Promise<void> {
    const decisions = (GROUPS[group][contender]?.decisions ?? 0) * this.#scale;
    const callers = { callers: 64, timedCallers: group === 'memory' ? 1 : 64 };
    await this.#take(`${load} ${contender}`, { contender, ...LOADS[load], ...callers, decisions });
  }

  async #take(name: string, options: DecisionsOptions): Promise<void> {
    const results = this.#results.get(name) ?? [];
    results.push(await take<Decisions>('decisions', this.#socketPath, options));
    this.#results.set(name, results);
  }
}
