/** What was answered, kept outside of everything that is killed. Instants are by the referee's clock. */
export interface Accepted {
  readonly id: string;
  readonly type: string;
  readonly tenant: string;
  /** When the request left that had the first answer. */
  readonly sentAt: number;
  /** When that answer was there. */
  readonly acceptedAt: number;
}

/** The book of one run: every job that a 202 named, and what must never happen at the door. */
export class Ledger {
  readonly accepted = new Map<string, Accepted>();
  readonly statuses = new Map<number, number>();
  /** One sentence for each thing that must not be. */
  readonly faults: string[] = [];
  longestAnswerMs = 0;
  /** Two jobs that came of one idempotency key. */
  readonly doubled: { readonly first: string; readonly second: string }[] = [];
  readonly #jobOfKey = new Map<string, string>();

  /** `job` when the answer named one; `key` when it was sent under an Idempotency-Key. */
  answered(answer: {
    readonly status: number;
    readonly tookMs: number;
    readonly job?: Accepted | undefined;
    readonly key?: string | undefined;
    /** Of the problem, when there was one. */
    readonly code?: string | undefined;
  }): void {
    const { status, tookMs, job, key, code } = answer;
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    this.longestAnswerMs = Math.max(this.longestAnswerMs, tookMs);
    if (![0, 202, 409, 429, 503].includes(status))
      this.faults.push(`a request was answered ${status}${code === undefined ? '' : ` (${code})`}`);
    if (status !== 202) return;
    if (job === undefined) {
      this.faults.push('a 202 named no job');
      return;
    }
    if (!this.accepted.has(job.id)) this.accepted.set(job.id, job);
    if (key === undefined) return;
    const before = this.#jobOfKey.get(key) ?? job.id;
    if (before !== job.id) this.doubled.push({ first: before, second: job.id });
    this.#jobOfKey.set(key, job.id);
  }
}
