/** What `CLUSTER INFO` says of the cluster as a whole: `ok` or `fail`. */
export function stateOf(info: string): string | undefined {
  return /^cluster_state:(\w+)/m.exec(info)?.[1];
}

/** A cluster that is not `ok`, in a few words. */
export function downText(state: string | undefined): string {
  return `the cluster is down (cluster_state:${state ?? 'unknown'}): some slots have no master`;
}
