import { type Circuit, isOutage, type Pass } from './circuit.js';
import { Deadline } from './deadline.js';
import type { OutageLog } from './outage-log.js';
import type { Check, Conforming, Policer, PolicerVerdict } from './policer.js';

/** A verdict and who came to it; none where nobody looked. */
export type Judgement =
  | { readonly decidedBy: 'policer' | 'local'; readonly verdict: PolicerVerdict }
  | { readonly decidedBy: 'open' | 'closed' };

/** A policer that answers at once. */
export interface StandIn {
  check(check: Check): PolicerVerdict;
}

/** A policer that asks at times, and at times need not. */
export interface Unasked {
  /** What it can say without asking anybody; `undefined` when it cannot. It gives back without asking, too. */
  checkUnasked(check: Check): PolicerVerdict | undefined;
}

export interface OutagePolicerOptions {
  /** The name of the policy, for the log. */
  readonly policy: string;
  readonly policer: Policer & Partial<Unasked>;
  /** Decides in its place: lets all pass, refuses all, or is asked. */
  readonly standIn: 'open' | 'closed' | StandIn;
  readonly deadlineMs: number;
  /** That of the connection which the policer asks over; absent where it decides without asking. */
  readonly circuit?: Circuit;
  /** Told when Redis is away, and when it answers. */
  readonly outages: OutageLog;
  /** Told when the policer fails though Redis is there: a bug, or somebody else's data under a key of ours. */
  readonly faults: OutageLog;
}

const OPEN: Judgement = { decidedBy: 'open' };
const CLOSED: Judgement = { decidedBy: 'closed' };

/**
 * A policer that always comes to a judgement, by the deadline: where the one inside is late, rejects or throws, its
 * stand-in decides. An answer that comes late is ignored; what it charged stays charged. While the circuit is open, a
 * policer that has something in hand goes on with it.
 */
export class OutagePolicer {
  readonly #options: OutagePolicerOptions;
  readonly #deadline: Deadline;

  constructor(options: OutagePolicerOptions) {
    this.#options = options;
    this.#deadline = new Deadline(options.deadlineMs);
  }

  /** Synchronous where nobody has to be asked. Neither throws nor rejects. */
  check(check: Check): Judgement | Promise<Judgement> {
    const { policer, circuit, faults } = this.#options;
    const pass = circuit?.admit();
    if (circuit !== undefined && pass === undefined) return this.#withoutAsking(check);
    let answer: PolicerVerdict | Promise<PolicerVerdict>;
    try {
      answer = policer.check(check);
    } catch (error) {
      return this.#failed(pass, error, check);
    }
    if (answer instanceof Promise) return this.#waitFor(answer, pass, check);
    // Decided without asking: that says nothing of Redis.
    if (pass !== undefined) circuit?.unused(pass);
    faults.answered();
    return { decidedBy: 'policer', verdict: answer };
  }

  /** Has a conforming call given back. Never rejects and never hangs: what cannot be given back stays charged. */
  async giveBack(verdict: Conforming): Promise<void> {
    const { circuit, policer, policy, faults } = this.#options;
    if (circuit?.isOpen === true && policer.checkUnasked === undefined) return;
    try {
      const given = verdict.giveBack();
      if (given instanceof Promise) await this.#deadline.within(given);
    } catch (error) {
      if (!isOutage(error)) faults.failed(policy, error);
    }
  }

  #withoutAsking(check: Check): Judgement {
    const { policer, policy, outages } = this.#options;
    const verdict = policer.checkUnasked?.(check);
    if (verdict !== undefined) return { decidedBy: 'policer', verdict };
    outages.stoodIn(policy);
    return this.#standIn(check);
  }

  async #waitFor(answer: Promise<PolicerVerdict>, pass: Pass | undefined, check: Check): Promise<Judgement> {
    try {
      const verdict = await this.#deadline.within(answer);
      this.#answered();
      return { decidedBy: 'policer', verdict };
    } catch (error) {
      return this.#failed(pass, error, check);
    }
  }

  #answered(): void {
    const { circuit, outages, faults } = this.#options;
    circuit?.answered();
    outages.answered();
    faults.answered();
  }

  #failed(pass: Pass | undefined, error: unknown, check: Check): Judgement {
    const { circuit, policy, outages, faults } = this.#options;
    if (isOutage(error)) {
      if (pass !== undefined) circuit?.failed(pass, error);
      outages.stoodIn(policy, error);
    } else {
      // To stay away from Redis would not mend it, and would take every other call along.
      circuit?.answered();
      faults.stoodIn(policy, error);
    }
    return this.#standIn(check);
  }

  #standIn(check: Check): Judgement {
    const { standIn, policy, faults } = this.#options;
    if (standIn === 'open') return OPEN;
    if (standIn === 'closed') return CLOSED;
    try {
      return { decidedBy: 'local', verdict: standIn.check(check) };
    } catch (error) {
      // Nobody can hold the caller to anything any more.
      faults.stoodIn(policy, error);
      return CLOSED;
    }
  }
}
