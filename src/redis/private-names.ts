import { codeOf } from './hoist.js';

/** Redis' Lua compiles at most so many local names of one chunk. */
const MOST_LOCALS = 200;

const FUNCTION = /^local function (\w+)/;
const NAMES = /^local ([\w, ]+?)(?: =.*)?$/;
const WORD = /[A-Za-z_]\w*/g;
const WHOLE_FUNCTION = /^local function (\w+)\([\s\S]*?^end$/gm;
/** What a script of BullMQ's has become, behind those of its helpers that are new with it. */
const BULL_FUNCTION = /^local function (bull_\w+)\(KEYS, ARGV\)$/m;

/**
 * Puts each text into a function of its own in which the names stay that no later text uses: a chunk of Lua may have only 200
 * local names, and most of a library's are nobody else's business.
 *
 * @param texts Parts of a library, each behind those that it needs.
 * @param rest What comes behind them all.
 */
export function withPrivateNames(texts: readonly string[], rest: string): string[] {
  const later = new Set(wordsOf(codeOf(rest)));
  const blocks = texts.toReversed().map((text) => {
    const block = blockOf(text, later);
    for (const word of wordsOf(codeOf(text))) later.add(word);
    return block;
  });
  const shared = blocks.reduce((sum, { names }) => sum + names.length, 0);
  if (shared >= MOST_LOCALS) throw new Error(`a library has ${shared} shared names, more than Lua can keep`);
  return blocks.map(({ block }) => block).toReversed();
}

interface Block {
  /** Those that others may use. */
  readonly names: readonly string[];
  readonly block: string;
}

function blockOf(text: string, later: ReadonlySet<string>): Block {
  const bull = BULL_FUNCTION.exec(text);
  if (bull?.[1] !== undefined) return bullBlockOf(text, bull[1], bull.index, later);
  const lines = text.split('\n');
  const names: string[] = [];
  const inside = lines.flatMap((line) => {
    const found = namesOf(line);
    if (!found.some((name) => later.has(name))) return [line];
    names.push(...found);
    // Declared before the block; here it only gets its value.
    return FUNCTION.test(line) || line.includes('=') ? [line.slice('local '.length)] : [];
  });
  return { names, block: apart(names, inside) };
}

/** Lines in a function of their own, so that their local names are none of the chunk's, but for those declared before it. */
function apart(names: readonly string[], lines: readonly string[]): string {
  const declared = names.length > 0 ? [`local ${names.join(', ')};`] : [];
  return [...declared, '(function()', ...lines, 'end)();'].join('\n');
}

/** BullMQ's own lines stay as they are: helpers that others use, or helpers of theirs, stand before the block. */
function bullBlockOf(text: string, name: string, at: number, later: ReadonlySet<string>): Block {
  const needed = new Set(later);
  const helpers = [...text.slice(0, at).matchAll(WHOLE_FUNCTION)].map(([source, helper = '']) => ({ source, helper }));
  const shared = helpers.toReversed().filter(({ source, helper }) => {
    if (!needed.has(helper)) return false;
    for (const word of wordsOf(codeOf(source))) needed.add(word);
    return true;
  });
  const own = helpers.filter((helper) => !shared.includes(helper));
  const body = text.slice(at + 'local '.length);
  const sources = (of: readonly (typeof helpers)[number][]) => of.map(({ source }) => source);
  return {
    names: [...shared.map(({ helper }) => helper), name],
    block: [...sources(shared.toReversed()), apart([name], [...sources(own), body])].join('\n'),
  };
}

function namesOf(line: string): string[] {
  const one = FUNCTION.exec(line)?.[1];
  return one === undefined ? wordsOf(NAMES.exec(line)?.[1] ?? '') : [one];
}

function wordsOf(text: string): string[] {
  return text.match(WORD) ?? [];
}
