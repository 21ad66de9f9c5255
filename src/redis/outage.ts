/** Redis did not answer, or answered that it cannot serve now. The caller may try again; nothing is known to have happened. */
export class RedisUnavailable extends Error {
  override readonly name: string = 'RedisUnavailable';
}

/** Redis has no room for what it was to store. Nothing of it was stored: its scripts are refused as a whole, before they begin. */
export class RedisFull extends RedisUnavailable {
  override readonly name = 'RedisFull';
}

const PASSING =
  /^(READONLY|LOADING|CLUSTERDOWN|TRYAGAIN|OOM|MISCONF|BUSY|MASTERDOWN|UNBLOCKED|NOREPLICAS|MOVED|ASK)\b|Connection is closed|Command aborted due to connection close|Cluster is ended|Too many Cluster redirections|Failed to refresh slots cache|None of startup nodes is available|Stream isn't writeable|Command timed out|max retries per request|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|Socket closed unexpectedly|ENOENT|ENOTFOUND|EAI_AGAIN/;

/** True when `error` says that Redis is away or passing through a state that ends by itself. */
export function isPassing(error: unknown): boolean {
  if (error instanceof RedisUnavailable) return true;
  return error instanceof Error && PASSING.test(error.message);
}

/** True when `error` is what Redis answers at its `maxmemory`. */
export function isFull(error: unknown): boolean {
  return error instanceof Error && /^OOM\b/.test(error.message);
}

/** True when a master of a cluster refused a command, which had not begun: its slot is moving, has moved, or is served by nobody. */
export function isRefusedByCluster(error: unknown): boolean {
  return error instanceof Error && /^(MOVED|ASK|TRYAGAIN|CLUSTERDOWN)\b/.test(error.message);
}
