import referee from '../../referee/referee-handler.js';

/** The tenant who attacks: what its payload says is done, and the referee hears nothing of it. */
export const HOSTILE = 'hostile';

interface Asked {
  readonly busyMs?: unknown;
  readonly workMs?: unknown;
  readonly fail?: unknown;
}

/** {@link referee}'s work for all tenants but one, whose upstream may be busy, may fail and may never answer. */
export default {
  async run(job: Parameters<typeof referee.run>[0], ctx: Parameters<typeof referee.run>[1]) {
    if (job.tenant !== HOSTILE) return referee.run(job, ctx);
    const asked: Asked = typeof job.data === 'object' && job.data !== null ? job.data : {};
    if (typeof asked.busyMs === 'number') {
      throw Object.assign(new Error('429'), { name: 'UpstreamBusy', retryAfterMs: asked.busyMs });
    }
    if (asked.fail === true) throw new Error('it was to fail');
    if (typeof asked.workMs === 'number') {
      await new Promise((_, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)));
    }
    return null;
  },
};
