/** An answer that did not come in time. It may still come; nobody waits for it. */
export class Late extends Error {
  override readonly name = 'Late';

  constructor(deadlineMs: number) {
    super(`no answer within ${deadlineMs} ms`);
  }
}

/**
 * Settles as `answer` does, or rejects with {@link Late} once `deadlineMs` have passed. Time for which this process
 * itself stood still is no outage: what lies in its sockets by then is read first, and where it stood still for long, so
 * that the question may not even have left it, the answer is waited for once more.
 */
export function withinDeadline<Answer>(answer: Promise<Answer>, deadlineMs: number): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const askedAt = performance.now();
    let timer = setTimeout(() => {
      const stoodStillMs = performance.now() - askedAt - deadlineMs;
      if (stoodStillMs > deadlineMs / 2) timer = setTimeout(late, deadlineMs);
      else late();
    }, deadlineMs);
    function late(): void {
      // Sockets are read between the phase of timers and that of immediates.
      setImmediate(() => reject(new Late(deadlineMs)));
    }
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
