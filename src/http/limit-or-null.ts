import { Type } from 'typebox';

/** The schema of a limit. */
export const Limit = Type.Union([Type.Number(), Type.Null()], { description: 'null: no limit' });

/** JSON knows no infinity: `null` says that there is no limit. */
export function limitOrNull(limit: number): number | null {
  return Number.isFinite(limit) ? limit : null;
}
