import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { type Allotment, PermitBook, type PermitChange } from '../../../src/model/permit-book.js';
import { permitsKey } from '../../../src/redis/keys.js';
import { permitScripts } from '../../../src/shaping/permit-scripts.js';
import { finite } from '../../../src/shaping/profile-bytes.js';
import type { ScriptShard } from '../script-shard.js';

/** The model and the scripts say different things. */
export class Disagreement extends Error {}

interface ChangeOf {
  /** Which of the permits that were ever asked for, counted back from the last. */
  readonly pick: number;
  readonly cost: number | undefined;
  readonly ends: boolean;
}

/** One call, or time that passes. */
export type PermitStep =
  | { readonly verb: 'pass'; readonly us: number }
  /** To the instant at which the rate lets something start, and so much beyond. */
  | { readonly verb: 'approach'; readonly byUs: number }
  | { readonly verb: 'allot'; readonly allotment: Allotment }
  /** By how many epochs the word is too old. */
  | { readonly verb: 'adopt'; readonly late: number; readonly runs: number }
  | {
      readonly verb: 'permit';
      /** Asks again for one of the last ones: the reply was lost. */
      readonly again: number | undefined;
      readonly asks: boolean;
      readonly cost: number;
      readonly changes: readonly ChangeOf[];
    };

const SHARDS = 3;
const cost = fc.constantFrom(1, 1, 1, 0, 0.001, 0.37, 2.5, 100);
const pick = fc.oneof({ weight: 4, arbitrary: fc.nat(7) }, { weight: 1, arbitrary: fc.nat(60) });
const change = fc.record({
  pick,
  cost: fc.option(cost, { nil: undefined }),
  ends: fc.constantFrom(true, true, false),
});
const allotment = fc
  .record({
    emissionUs: fc.constantFrom(0, 1e6, 1e6 / 3, 12_345.678, Number.POSITIVE_INFINITY),
    burst: fc.constantFrom(1, 1, 2.5, 10),
    concurrency: fc.constantFrom(Number.POSITIVE_INFINITY, 1, 2, 5),
    slackUs: fc.constantFrom(0, 25_000, 250_000),
  })
  .map((terms) => ({ ...terms, isLimited: terms.emissionUs > 0 || terms.concurrency < Infinity }));

export const permitStep: fc.Arbitrary<PermitStep> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      verb: fc.constant('pass' as const),
      us: fc.constantFrom(0, 1, 999.5, 30_000, 400_000, 3_000_000, -1, -2_000_000),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ verb: fc.constant('approach' as const), byUs: fc.constantFrom(-1, 0, 1, 20_000, 300_000) }),
  },
  { weight: 1, arbitrary: fc.record({ verb: fc.constant('allot' as const), allotment }) },
  {
    weight: 1,
    arbitrary: fc.record({
      verb: fc.constant('adopt' as const),
      late: fc.constantFrom(0, 0, 0, 1),
      runs: fc.integer({ min: 0, max: 3 }),
    }),
  },
  {
    weight: 9,
    arbitrary: fc.record({
      verb: fc.constant('permit' as const),
      again: fc.option(fc.nat(3), { nil: undefined, freq: 5 }),
      asks: fc.constantFrom(true, true, true, false),
      cost,
      changes: fc.array(change, { maxLength: 3 }),
    }),
  },
);

/** The model and the real scripts, side by side: every call goes to both, at the same explicit instant; all replies and all state are compared. */
export class PermitTwins {
  readonly #shard: ScriptShard;
  readonly #book = new PermitBook();
  readonly #ids: string[] = [];

  constructor(shard: ScriptShard) {
    this.#shard = shard;
  }

  /** Carries out one step. Throws {@link Disagreement} when the two differ. */
  async step(step: PermitStep): Promise<void> {
    const [redis, model] = await this.#carryOut(step);
    if (!isDeepStrictEqual(redis, model)) throw new Disagreement(describe('the reply', redis, model));
    const taken = await this.#run('taken', []);
    const expected = this.#book.taken(this.#shard.nowUs);
    if (!isDeepStrictEqual(taken, expected)) throw new Disagreement(describe('what is taken', taken, expected));
    const [state, stated] = [await this.#stateOfRedis(), this.#stateOfModel()];
    if (!isDeepStrictEqual(state, stated)) throw new Disagreement(describe('the state', state, stated));
  }

  async #carryOut(step: PermitStep): Promise<[redis: unknown, model: unknown]> {
    const shard = this.#shard;
    switch (step.verb) {
      case 'pass':
        shard.nowUs += step.us;
        return [undefined, undefined];
      case 'approach':
        shard.nowUs += this.#book.taken(shard.nowUs).waitUs + step.byUs;
        return [undefined, undefined];
      case 'allot': {
        const { emissionUs, burst, concurrency, slackUs, isLimited } = step.allotment;
        const limits = [emissionUs, burst, finite(concurrency), slackUs, isLimited ? '1' : ''];
        const epoch = this.#book.allot(shard.nowUs, step.allotment);
        return [await this.#run('allot', limits), epoch === undefined ? null : { uncountedEpoch: epoch }];
      }
      case 'adopt': {
        const epoch = this.#book.state.epoch - step.late;
        const runs = Array.from({ length: step.runs }, (_, i) => ({ shard: i % SHARDS, token: this.#newId() }));
        this.#book.adopt(shard.nowUs, epoch, runs);
        await this.#run('adopt', [epoch, ...runs.flatMap((run) => [run.shard, run.token])]);
        return [undefined, undefined];
      }
      case 'permit':
        return this.#permit(step);
    }
  }

  async #permit(step: PermitStep & { verb: 'permit' }): Promise<[redis: unknown, model: unknown]> {
    const { nowUs } = this.#shard;
    const changes = step.changes.flatMap(({ pick: back, ...what }): PermitChange[] => {
      const id = this.#ids.at(-1 - back);
      return id === undefined ? [] : [{ id, ...what }];
    });
    const before = step.again === undefined ? undefined : this.#ids.at(-1 - step.again);
    const asked = {
      id: before ?? this.#newId(),
      shard: this.#ids.length % SHARDS,
      untilUs: nowUs + 0.25,
      cost: step.cost,
    };
    const told = changes.flatMap(({ id, cost: units, ends }) => [id, units ?? '', ends ? 'end' : 'keep']);
    const argv = step.asks ? [asked.id, asked.shard, asked.untilUs, asked.cost] : ['', '', '', ''];
    const model = this.#book.permit(nowUs, step.asks ? asked : undefined, changes);
    return [await this.#run('permit', [...argv, ...told]), model];
  }

  #run(verb: 'permit' | 'allot' | 'adopt' | 'taken', argv: readonly (string | number)[]): Promise<unknown> {
    const { nowUs } = this.#shard;
    switch (verb) {
      case 'permit':
        return this.#shard.run(permitScripts.permit, [nowUs, ...argv]);
      case 'allot':
        return this.#shard.run(permitScripts.allot, [nowUs, ...argv]);
      case 'adopt':
        return this.#shard.run(permitScripts.adopt, [nowUs, ...argv]);
      case 'taken':
        return this.#shard.run(permitScripts.taken, [nowUs, ...argv]);
    }
  }

  /** The doubles of lua/lib/permits.lua, and the permits. */
  async #stateOfRedis() {
    const { redis, tag } = this.#shard;
    const packed = await redis.getBuffer(this.#shard.key('total'));
    if (packed === null) return { numbers: undefined, permits: {} };
    return {
      numbers: Array.from({ length: packed.length / 8 }, (_, i) => packed.readDoubleLE(i * 8)),
      permits: Object.fromEntries(
        Object.entries(await redis.hgetall(permitsKey(tag))).map(([id, text]) => [id, text.split(' ').map(Number)]),
      ),
    };
  }

  #stateOfModel() {
    const s = this.#book.state;
    if (s.nowUs === 0) return { numbers: undefined, permits: {} };
    const flags = [s.isPaused, s.forSlot, s.byRate, s.isLimited, s.isCounted].map(Number);
    const [paused, full, late, limited, counted] = flags;
    const terms = [s.emissionUs, s.burst, finite(s.concurrency), s.slackUs, paused];
    const permits = [...this.#book.permits].map(([id, { shard, untilUs, cost: units, markUs }]) => [
      id,
      [shard, untilUs, units, markUs],
    ]);
    return {
      numbers: [s.nowUs, s.offsetUs, s.tatUs, ...terms, full, late, limited, counted, s.epoch],
      permits: Object.fromEntries(permits),
    };
  }

  #newId(): string {
    const id = `p${this.#ids.length}`;
    this.#ids.push(id);
    return id;
  }
}

function describe(what: string, redis: unknown, model: unknown): string {
  return `${what} differs\n  scripts: ${JSON.stringify(redis)}\n  model:   ${JSON.stringify(model)}`;
}
