/**
 * The part of the true words that were recognised, 0 to 1: one minus the word edits (put in, left out, replaced) that
 * turn one text into the other, over the number of true words. Letter case counts; punctuation at a word's ends and the
 * line breaks do not.
 */
export function wordAccuracy(truth: string, recognised: string): number {
  const expected = words(truth);
  if (expected.length === 0) return words(recognised).length === 0 ? 1 : 0;
  return Math.max(0, 1 - edits(expected, words(recognised)) / expected.length);
}

function words(text: string): string[] {
  return text
    .split(/\s+/)
    .map((word) => word.replace(/^[\p{P}\p{S}]+|[\p{P}\p{S}]+$/gu, ''))
    .filter((word) => word !== '');
}

/** The Levenshtein distance between two lists, row by row. */
function edits(from: readonly string[], to: readonly string[]): number {
  let above = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (const [row, word] of from.entries()) {
    const current = [row + 1];
    for (const [column, other] of to.entries()) {
      const replaced = (above[column] ?? 0) + (word === other ? 0 : 1);
      current.push(Math.min(replaced, (above[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1));
    }
    above = current;
  }
  return above[to.length] ?? 0;
}
