import { callReferee } from './call-referee.js';

/** What this handler reads of a job. */
interface Job {
  readonly id: string;
  readonly type: string;
  readonly tenant: string;
  readonly data: unknown;
  readonly attempt: number;
  readonly cost: number;
  readonly options: Readonly<Record<string, unknown>>;
}

/**
 * A handler whose work the referee does. The type's `options` name it: `{ referee: 'http://127.0.0.1:…' }`.
 * The payload may say how long (`workMs`) and how it ends (`fail: true`, or the number of the last attempt that fails).
 * Its result is `{ run }`, the referee's number of the run.
 */
export default {
  async run({ id, type, tenant, data, attempt, cost, options }: Job, ctx: { readonly signal: AbortSignal }) {
    const { referee } = options;
    if (typeof referee !== 'string') throw new Error('options.referee must be the address of the referee');
    const asked: { workMs?: unknown; fail?: unknown } = typeof data === 'object' && data !== null ? data : {};
    const failing = asked.fail === true || (typeof asked.fail === 'number' && attempt <= asked.fail);
    const work = {
      job: id,
      type,
      tenant,
      cost,
      attempt,
      workMs: typeof asked.workMs === 'number' ? asked.workMs : 0,
      outcome: failing ? ('failed' as const) : ('ok' as const),
    };
    const result = await callReferee(referee, work, ctx.signal);
    if (failing) throw new Error(`attempt ${attempt} was to fail`);
    return result;
  },
};
