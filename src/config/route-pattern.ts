import findMyWay from 'find-my-way';
import type { Decoded } from './field.js';
import { shortened } from './problem.js';

/** Completes "expected …". */
export const PATTERN_FORM = 'the pattern of a path, such as /users/:id or /files/*';

/** A pattern as find-my-way takes it, which is what routes are looked up with. */
export function routePattern(text: string): Decoded<string> {
  const why = patternFault(text);
  if (why === undefined) return { value: text };
  return { fault: `expected ${PATTERN_FORM}; got ${JSON.stringify(shortened(text))}: ${shortened(why)}` };
}

/** The patterns of one method; no two of them match the same paths. */
export class PatternTable {
  readonly #router = findMyWay();
  readonly #patterns: string[] = [];

  /** Adds a pattern that {@link routePattern} has found sound; or says which one it repeats. */
  add(pattern: string): { readonly repeats: string } | undefined {
    if (accepts(this.#router, pattern) === undefined) {
      this.#patterns.push(pattern);
      return undefined;
    }
    return { repeats: this.#patterns.find((earlier) => clash(earlier, pattern)) ?? pattern };
  }
}

function patternFault(text: string): string | undefined {
  // An expression in brackets, and the mark of an optional last parameter, may hold these.
  const [odd] = /[?#]/.exec(text.replace(/\(.*\)/g, '').replace(/(:[^/]+)\?(\/?)$/, '$1$2')) ?? [];
  if (odd !== undefined) return `a path has no ${odd}`;
  return accepts(findMyWay(), text);
}

function clash(one: string, other: string): boolean {
  const router = findMyWay();
  accepts(router, one);
  return accepts(router, other) !== undefined;
}

/** Why the router does not take the pattern; `undefined` when it does. */
function accepts(router: findMyWay.Instance<findMyWay.HTTPVersion.V1>, pattern: string): string | undefined {
  try {
    router.on('GET', pattern, () => {});
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
