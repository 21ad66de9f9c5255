/** Where a page of jobs ended: the score of its last job in BullMQ's set, and the job's id. */
export interface Cursor {
  readonly score: string;
  readonly id: string;
}

/**
 * What a cursor looks like, as a regular expression: a number as Redis writes scores, and an id. Redis refuses a score
 * that is no number.
 */
export const CURSOR_PATTERN = '^(-?[0-9]{1,25}(?:\\.[0-9]{1,25})?(?:[eE][+-]?[0-9]{1,3})?)~([\\x21-\\x7e]{1,128})$';

const SHAPE = new RegExp(CURSOR_PATTERN);

/** `undefined` when `text` is none of ours. */
export function parseCursor(text: string): Cursor | undefined {
  const [, score, id] = SHAPE.exec(text) ?? [];
  return score === undefined || id === undefined ? undefined : { score, id };
}

export function formatCursor({ score, id }: Cursor): string {
  return `${score}~${id}`;
}
