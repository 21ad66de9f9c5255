/**
 * Milliseconds that a `Retry-After` asks for (RFC 9110, 10.2.3): whole seconds, or an HTTP date, counted from the answer's
 * own `Date` where it has one, so that the clocks need not agree. `undefined` when absent or neither.
 */
export function retryAfterMs(value: string | undefined, date: string | undefined, nowMs: number): number | undefined {
  const text = value?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const atMs = instantOf(text);
  return atMs === undefined ? undefined : Math.max(0, atMs - (instantOf(date ?? '') ?? nowMs));
}

function instantOf(text: string): number | undefined {
  // Date.parse reads much more than HTTP dates.
  const atMs = / GMT$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : atMs;
}
