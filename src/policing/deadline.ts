import { startDeadline } from '../redis/deadline.js';

/** An answer that did not come in time. It may still come; nobody waits for it. */
export class Late extends Error {
  override readonly name = 'Late';

  constructor(deadlineMs: number) {
    super(`no answer within ${deadlineMs} ms`);
  }
}

/** Settles as `answer` does, or rejects with {@link Late} once `deadlineMs` have passed (see {@link startDeadline}). */
export function withinDeadline<Answer>(answer: Promise<Answer>, deadlineMs: number): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const end = startDeadline(deadlineMs, () => reject(new Late(deadlineMs)));
    answer.then(
      (value) => {
        end();
        resolve(value);
      },
      (error: unknown) => {
        end();
        reject(error);
      },
    );
  });
}
