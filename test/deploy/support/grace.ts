/** Within so long after `shutdownGrace` a process that was asked to leave is gone (docs/operations.md, Signals). */
export const AFTER_GRACE_MS = 15_000;

/** A duration as compose files have them, in whole seconds. */
export function durationMs(text: string): number {
  const [, seconds] = /^(\d+)s$/.exec(text) ?? [];
  return Number(seconds) * 1000;
}
