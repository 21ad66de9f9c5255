/** Redis' Lua compiles at most so many local names of one chunk. */
const MOST_LOCALS = 200;

const FUNCTION = /^local function (\w+)/;
const NAMES = /^local ([\w, ]+?)(?: =.*)?$/;
const WORD = /[A-Za-z_]\w*/g;
/** BullMQ's own text stays as it is. */
const BULL_FUNCTION = /^local function bull_\w+\(KEYS, ARGV\)$/m;

/**
 * Puts each text into a block of its own in which the names stay that no later text uses: a chunk of Lua may have only 200
 * local names, and most of a library's are nobody else's business.
 *
 * @param texts Parts of a library, each behind those that it needs.
 * @param rest What comes behind them all.
 */
export function withPrivateNames(texts: readonly string[], rest: string): string[] {
  const later = new Set(wordsOf(rest));
  const blocks = texts.toReversed().map((text) => {
    const block = blockOf(text, later);
    for (const word of wordsOf(text)) later.add(word);
    return block;
  });
  const shared = blocks.reduce((sum, { names }) => sum + names.length, 0);
  if (shared >= MOST_LOCALS) throw new Error(`a library has ${shared} shared names, more than Lua can keep`);
  return blocks.map(({ block }) => block).toReversed();
}

function blockOf(text: string, later: ReadonlySet<string>): { names: readonly string[]; block: string } {
  const lines = text.split('\n');
  if (BULL_FUNCTION.test(text)) return { names: lines.flatMap((line) => FUNCTION.exec(line)?.[1] ?? []), block: text };
  const names: string[] = [];
  const inside = lines.flatMap((line) => {
    const found = namesOf(line);
    if (!found.some((name) => later.has(name))) return [line];
    names.push(...found);
    // Declared before the block; here it only gets its value.
    return FUNCTION.test(line) || line.includes('=') ? [line.slice('local '.length)] : [];
  });
  const declaration = names.length > 0 ? `local ${names.join(', ')}\n` : '';
  return { names, block: `${declaration}do\n${inside.join('\n')}\nend` };
}

function namesOf(line: string): string[] {
  const one = FUNCTION.exec(line)?.[1];
  return one === undefined ? wordsOf(NAMES.exec(line)?.[1] ?? '') : [one];
}

function wordsOf(text: string): string[] {
  return text.match(WORD) ?? [];
}
