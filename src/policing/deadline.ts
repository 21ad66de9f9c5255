/** An answer that did not come in time. It may still come; nobody waits for it. */
export class Late extends Error {
  override readonly name = 'Late';

  constructor(deadlineMs: number) {
    super(`no answer within ${deadlineMs} ms`);
  }
}

/**
 * Settles as `answer` does, or rejects with {@link Late} once `deadlineMs` have passed. Where this process itself was
 * busy for longer than that, answers that lie in its sockets by then are read first: its own pause is no outage.
 */
export function withinDeadline<Answer>(answer: Promise<Answer>, deadlineMs: number): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      // Sockets are read between the phase of timers and that of immediates.
      setImmediate(() => reject(new Late(deadlineMs)));
    }, deadlineMs);
    answer.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
