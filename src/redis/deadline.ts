/**
 * Calls `late` once `ms` milliseconds have passed; returns how to prevent that. Time for which this process itself stood
 * still is held against nobody: what lies in its sockets by then is read first, and where it stood still for long, so that a
 * question may not even have left it, the answer is waited for once more.
 */
export function startDeadline(ms: number, late: () => void): () => void {
  const startedAt = performance.now();
  let timer = setTimeout(() => {
    const stoodStillMs = performance.now() - startedAt - ms;
    if (stoodStillMs > ms / 2) timer = setTimeout(over, ms);
    else over();
  }, ms);
  let isOff = false;
  function over(): void {
    // Sockets are read between the phase of timers and that of immediates.
    setImmediate(() => {
      if (!isOff) late();
    });
  }
  return () => {
    isOff = true;
    clearTimeout(timer);
  };
}
