import { moreGenerous, type Terms, termsFrom } from './contract.js';
import { lastUntil } from './last-until.js';
import type { ChangeEvent, StatedTerms } from './trace.js';

/** Terms that held from `from` until the next piece. */
export interface Piece {
  readonly from: number;
  readonly terms: Terms;
}

/**
 * The terms of one bucket (or of a type's capacity) over time. While it is unknown whether a change holds already, which
 * includes what is still on its way to the referee, the more generous of both counts.
 */
export function piecesOf(
  stated: StatedTerms,
  statedSlackMs: number | undefined,
  changes: readonly ChangeEvent[],
  arrivalMs: number,
): readonly Piece[] {
  const inOrder = [...changes].sort((a, b) => a.sentAt - b.sentAt);
  let settled = termsFrom(stated, statedSlackMs);
  const pieces: Piece[] = [{ from: -Infinity, terms: settled }];
  for (const [index, change] of inOrder.entries()) {
    const next = termsFrom(change.terms, statedSlackMs, settled);
    pieces.push({ from: change.sentAt, terms: moreGenerous(next, settled) });
    const until = change.answeredAt + arrivalMs;
    if (until < (inOrder[index + 1]?.sentAt ?? Infinity)) pieces.push({ from: until, terms: next });
    settled = next;
  }
  return pieces;
}

/** The terms in force at an instant. */
export function termsAt(pieces: readonly Piece[], at: number): Terms {
  const piece = pieces[lastUntil(pieces, ({ from }) => from, at)];
  if (piece === undefined) throw new Error('a bucket without terms');
  return piece.terms;
}

/** The highest that a limit has been up to and including an instant. */
export function highestUntil(
  pieces: readonly Piece[],
  at: number,
  limit: 'depth' | 'maxBytes' | 'concurrency',
): number {
  return pieces.reduce((highest, piece) => (piece.from <= at ? Math.max(highest, piece.terms[limit]) : highest), 0);
}
