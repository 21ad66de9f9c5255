import { startDeadline } from '../redis/deadline.js';

/** An answer that did not come in time. It may still come; nobody waits for it. */
export class Late extends Error {
  override readonly name = 'Late';

  constructor(deadlineMs: number) {
    super(`no answer within ${deadlineMs} ms`);
  }
}

/** Answers that were asked for in one turn of the event loop. */
interface Turn {
  readonly rejects: ((error: Late) => void)[];
  /** How many have not come yet. */
  awaited: number;
  /** Calls the deadline off; there once the turn is over. */
  end: (() => void) | undefined;
}

/**
 * A deadline for many answers. Those that are asked for in one turn of the event loop share a timer, which runs from the end
 * of that turn: timers of their own took a tenth of what a decision costs.
 */
export class Deadline {
  readonly #ms: number;
  #turn: Turn | undefined;

  constructor(ms: number) {
    this.#ms = ms;
  }

  /** Settles as `answer` does, or rejects with {@link Late} once the deadline has passed (see {@link startDeadline}). */
  within<Answer>(answer: Promise<Answer>): Promise<Answer> {
    const turn = this.#turn ?? this.#begin();
    turn.awaited += 1;
    return new Promise((resolve, reject) => {
      turn.rejects.push(reject);
      answer.then(
        (value) => {
          came(turn);
          resolve(value);
        },
        (error: unknown) => {
          came(turn);
          reject(error);
        },
      );
    });
  }

  #begin(): Turn {
    const turn: Turn = { rejects: [], awaited: 0, end: undefined };
    this.#turn = turn;
    process.nextTick(() => {
      this.#turn = undefined;
      if (turn.awaited > 0) turn.end = startDeadline(this.#ms, () => this.#late(turn));
    });
    return turn;
  }

  /** Those that have come know no other end any more. */
  #late({ rejects }: Turn): void {
    for (const reject of rejects) reject(new Late(this.#ms));
  }
}

function came(turn: Turn): void {
  turn.awaited -= 1;
  if (turn.awaited === 0) turn.end?.();
}

/** The same for one answer. */
export function withinDeadline<Answer>(answer: Promise<Answer>, deadlineMs: number): Promise<Answer> {
  return new Deadline(deadlineMs).within(answer);
}
