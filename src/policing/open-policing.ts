import type { PolicyConfig } from '../config/policy-config.js';
import type { RedisLink } from '../redis/connection.js';
import { Circuit } from './circuit.js';
import { decisionOf } from './decision.js';
import { DecisionCounts } from './decision-counts.js';
import { type HeldLimits, HeldPolicy } from './held-policy.js';
import { OutageLog, type OutageLogger } from './outage-log.js';
import { type Judgement, OutagePolicer, type OutagePolicerOptions } from './outage-policer.js';
import { Policers } from './policers.js';
import type { Decision, DecisionCount, Policing, PolicingRequest } from './policing.js';

export interface PolicingOptions {
  readonly policies: ReadonlyMap<string, PolicyConfig>;
  /** The connection that policies are decided over; not needed where all of them are `local`. It stays the caller's to close. */
  readonly redis?: RedisLink | undefined;
  /** Told once when an outage begins and once when it is over. */
  readonly logger?: OutageLogger | undefined;
  /** Spreads retries and probes; from 0 up to 1. */
  readonly random?: () => number;
  /** Monotonic milliseconds, by which outages are timed. */
  readonly now?: () => number;
}

/** Costs that a call can have; others are the caller's mistake. */
const LEAST_COST = 1e-6;
const GREATEST_COST = 1e9;

/** An outage is over when Redis has answered everything for so long. */
const QUIET_MS = 1000;
const FAULT_QUIET_MS = 60_000;

const monotonicMs = (): number => performance.now();

const UNLIMITED: Judgement = {
  decidedBy: 'policer',
  verdict: { verdict: 'conforming', readings: [], giveBack: () => undefined },
};

interface Door {
  readonly policy: HeldPolicy;
  readonly policer: OutagePolicer;
  readonly counts: DecisionCounts;
}

/**
 * Gets the policies of a configuration ready to decide. Redis need not be there.
 *
 * @throws Error when a policy needs Redis and none is given.
 */
export function openPolicing(options: PolicingOptions): Policing {
  return new OpenPolicing(options);
}

class OpenPolicing implements Policing {
  readonly #doors = new Map<string, Door>();
  readonly #policers: Policers;
  readonly #random: () => number;

  constructor({ policies, redis, logger, random = Math.random, now = monotonicMs }: PolicingOptions) {
    this.#random = random;
    this.#policers = new Policers(redis);
    const circuit = new Circuit({ random, now });
    const outages = new OutageLog({
      logger,
      now,
      quietMs: QUIET_MS,
      begins: 'Redis does not answer: policies decide as their onOutage says',
      ends: 'Redis answers again: policies decide by their limits',
    });
    for (const [name, config] of policies) {
      const policer = this.#policers.of(config);
      const faults = new OutageLog({
        logger,
        now,
        quietMs: FAULT_QUIET_MS,
        begins: 'a policer failed: its policy decides as its onOutage says',
        ends: 'a policer has not failed any more',
      });
      const { deadlineMs } = config;
      const asksRedis = config.place === 'local' ? {} : { circuit };
      const standIn = this.#standInOf(config);
      this.#doors.set(name, {
        policy: new HeldPolicy(config),
        policer: new OutagePolicer({ policy: name, policer, standIn, deadlineMs, ...asksRedis, outages, faults }),
        counts: new DecisionCounts(name),
      });
    }
  }

  has(policy: string): boolean {
    return this.#doors.has(policy);
  }

  decide(request: PolicingRequest): Promise<Decision> {
    try {
      return Promise.resolve(this.#decide(request));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  counts(): readonly DecisionCount[] {
    return [...this.#doors.values()].flatMap(({ counts }) => counts.snapshot());
  }

  async close(): Promise<void> {
    await this.#policers.close();
  }

  /** Synchronous where nobody has to be asked: as an async function it took a tenth more of a decision in the process. */
  #decide({ policy: name, caller, cost, peek = false }: PolicingRequest): Decision | Promise<Decision> {
    const door = this.#doors.get(name);
    if (door === undefined) throw new TypeError(`there is no policy ${JSON.stringify(name)}`);
    if (!(cost >= LEAST_COST && cost <= GREATEST_COST)) throw new TypeError(`a cost of ${cost} cannot be charged`);
    const held = door.policy.limitsOf(caller);
    const judged = withoutAsking(held, cost) ?? door.policer.check({ limits: held.appliedTo(caller), cost, peek });
    if (judged instanceof Promise) return judged.then((judgement) => this.#decided(judgement, door));
    return this.#decided(judged, door);
  }

  #decided(judgement: Judgement, { policy, policer, counts }: Door): Decision {
    const decision = decisionOf(judgement, { policy: policy.config, giver: policer, random: this.#random });
    counts.add(decision);
    return decision;
  }

  /** Where a local policer itself fails, another one would fail too. */
  #standInOf(config: PolicyConfig): OutagePolicerOptions['standIn'] {
    if (config.onOutage !== 'local') return config.onOutage;
    return config.place === 'local' ? 'closed' : this.#policers.local(config);
  }
}

/** What needs no policer, whether or not Redis is there: a caller without limits, and a cost above them. */
function withoutAsking(held: HeldLimits, cost: number): Judgement | undefined {
  if (held.limits.length === 0) return UNLIMITED;
  const verdict = held.tooDear(cost);
  return verdict && { decidedBy: 'policer', verdict };
}
