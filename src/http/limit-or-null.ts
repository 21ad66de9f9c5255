/** JSON knows no infinity: `null` says that there is no limit. */
export function limitOrNull(limit: number): number | null {
  return Number.isFinite(limit) ? limit : null;
}
