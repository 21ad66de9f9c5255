import { setTimeout as wait } from 'node:timers/promises';
import { threadId } from 'node:worker_threads';
import { defineHandler, Unrecoverable, UpstreamBusy } from 'headgate/handler';

/** A handler of these tests: does what its payload says, by name, and what no thread should. */
const DEEDS: Readonly<Record<string, Parameters<typeof defineHandler>[0]['run']>> = {
  returns: (job) => ({ ...job, threadId }),
  computes: (job) => {
    const until = performance.now() + Number(Reflect.get(Object(job.data), 'ms'));
    while (performance.now() < until);
    return 'computed';
  },
  waits: (_, { signal }) => wait(60_000, 'too late', { signal, ref: true }).catch(() => Promise.reject(signal.reason)),
  'emits what is too much': async (_, { emit }) => {
    await emit('x'.repeat(70_000));
  },
  tells: async (_, { progress, emit, charge, log, running }) => {
    void emit('Hel');
    void emit('lo');
    await progress({ page: 3 });
    void charge(7);
    log.warn({ err: new Error('odd') }, 'look');
    log.info('only words');
    return running.deadlineAtMs;
  },
  overcharges: (_, { charge }) => charge(Number.NaN),
  circles: () => {
    const ring: Record<string, unknown> = {};
    ring.ring = ring;
    return ring;
  },
  counts: () => 10n,
  floods: () => 'x'.repeat(50 * 1024 * 1024),
  throws: () => Promise.reject(new Error('no good')),
  'throws text': () => Promise.reject('no good'),
  'gives up': () => Promise.reject(new Unrecoverable('never')),
  'is turned away': () => Promise.reject(new UpstreamBusy(1234, { scope: 'type' })),
  exits: () => process.exit(7),
  'throws behind its back': () =>
    new Promise(() => {
      setTimeout(() => {
        throw new Error('nobody catches this');
      });
    }),
  'needs all memory': () => {
    const hoard: unknown[] = [];
    for (;;) hoard.push(Array.from({ length: 1000 }, () => ({})));
  },
};

export default defineHandler({
  isolate: true,
  run: (job, ctx) => {
    const deed = DEEDS[String(Reflect.get(Object(job.data), 'do'))];
    if (!deed) throw new Unrecoverable('no such deed');
    return deed(job, ctx);
  },
});
