/** A script of BullMQ, taken apart. */
export interface Hoisted {
  /** Its helpers, in an order in which each stands behind those that it calls. */
  readonly functions: ReadonlyMap<string, string>;
  /** What is left of it. */
  readonly body: string;
}

/** Another way to write a helper, which the ones below do not read. */
const ASSIGNED_FUNCTION = /^local (\w+) = function ?\(/gm;
const FUNCTION = /^local function (\w+)\(([^)]*)\)[\s\S]*?^end$/gm;
const TOP_LEVEL_LOCALS = /^local (?!function\b)([\w, ]+?)(?: *=.*)?$/gm;
const INNER_LOCALS = /\blocal (?:function )?([\w, ]+)|\bfor ([\w, ]+) (?:in|=)/g;
const WORD = /[A-Za-z_]\w*/g;
const COMMENTS_AND_TEXTS = /--\[\[[\s\S]*?\]\]|--.*$|"[^"\n]*"|'[^'\n]*'/gm;

/** Every script of BullMQ's names `redis.call` so, and so does the library that it becomes part of. */
const RCALL = 'rcall';

/**
 * Takes the helpers out of a script's text, so that a library sets them up once instead of at every call (they are the
 * tenth part of it). A helper stays where it is when it needs something of the script's own: a variable of its, or
 * another helper that stays. `kept` are helpers that the library has already: one of the same name and another text stays.
 * `replaced` are those for which the library has one of its own: they go.
 */
export function hoist(script: string, kept: ReadonlyMap<string, string>, replaced: ReadonlySet<string>): Hoisted {
  const text = script.replace(ASSIGNED_FUNCTION, 'local function $1(');
  const own = new Set([...text.matchAll(TOP_LEVEL_LOCALS)].flatMap(([, names = '']) => words(names)));
  own.delete(RCALL);
  for (const argument of ['KEYS', 'ARGV']) own.add(argument);
  const functions = new Map<string, string>();
  const body = text.replace(FUNCTION, (source: string, name: string, parameters: string) => {
    if (replaced.has(name)) return '';
    const clashes = kept.has(name) && kept.get(name) !== source;
    if (clashes || freeNames(source, parameters).some((used) => used !== name && own.has(used))) {
      own.add(name);
      return source;
    }
    functions.set(name, source);
    return '';
  });
  return { functions, body };
}

/** The text of a script without its comments and texts. */
export function codeOf(text: string): string {
  return text.replace(COMMENTS_AND_TEXTS, '');
}

/** Names that a helper uses and does not declare itself. */
function freeNames(source: string, parameters: string): string[] {
  const declared = new Set(words(parameters));
  const code = codeOf(source);
  for (const [, locals = '', loop = ''] of code.matchAll(INNER_LOCALS)) {
    for (const name of words(`${locals},${loop}`)) declared.add(name);
  }
  return words(code).filter((name) => !declared.has(name));
}

function words(text: string): string[] {
  return text.match(WORD) ?? [];
}
