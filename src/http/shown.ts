import { shortened } from '../config/problem.js';

/** A value of the caller's, cut to what fits in a sentence. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(shortened(value));
  if (Array.isArray(value)) return value.length === 0 ? '[]' : 'an array';
  if (typeof value === 'object' && value !== null) return 'an object';
  return value === undefined ? 'nothing' : String(value);
}
