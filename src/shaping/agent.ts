import { isPassing } from '../redis/outage.js';

/** A background duty of a worker process: one shape for all of them. */
export interface Agent {
  /** Does the duty every so often from now on. */
  start(): void;
  /** Does it no more; resolves when a run under way has ended. */
  stop(): Promise<void>;
  /** Does it once, now. */
  runOnce(): Promise<void>;
}

export interface AgentOptions {
  /** Mean pause between two runs, in milliseconds; jittered, so that processes do not march in step. */
  readonly everyMs: number;
  /** From 0 to 1, for the jitter. */
  readonly random?: () => number;
  /** Told of errors other than Redis being away, which a later run outlives. */
  readonly onError: (error: unknown) => void;
}

/** Makes an agent of an idempotent `duty`. Runs never overlap. */
export function makeAgent(duty: () => Promise<void>, { everyMs, random = Math.random, onError }: AgentOptions): Agent {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let stopped = true;

  const runOnce = async (): Promise<void> => {
    running ??= duty()
      .catch((error: unknown) => {
        if (!isPassing(error)) onError(error);
      })
      .finally(() => {
        running = undefined;
      });
    await running;
  };
  const schedule = (): void => {
    timer = setTimeout(
      async () => {
        await runOnce();
        if (!stopped) schedule();
      },
      everyMs * (0.75 + random() / 2),
    );
  };
  return {
    runOnce,
    start: () => {
      stopped = false;
      schedule();
    },
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
