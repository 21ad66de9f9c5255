import findMyWay from 'find-my-way';
import type { Decoded } from './field.js';
import { pathPatterns, withoutExpressions } from './path-patterns.js';
import { shortened } from './problem.js';

/** Completes "expected …". */
export const PATTERN_FORM = 'the pattern of a path, such as /users/:id or /files/*';

/** A pattern that find-my-way takes, which is what routes are looked up with. */
export function routePattern(text: string): Decoded<string> {
  const why = patternFault(text);
  if (why === undefined) return { value: text };
  return { fault: `expected ${PATTERN_FORM}; got ${JSON.stringify(shortened(text))}: ${shortened(why)}` };
}

/**
 * The patterns that the requests of one method are looked up among. All are ones that {@link routePattern} has found
 * sound. Case, and slashes at the end, make no difference between two.
 */
export class PatternTable {
  readonly #router = newRouter();
  readonly #patterns: string[] = [];

  /** Adds a pattern; or tells the one that stands in its place. */
  add(pattern: string): string | undefined {
    return this.#add(pattern, pathPatterns(pattern));
  }

  /**
   * Adds a pattern of a more general method, which counts only where none of this method is the same. The router cannot
   * tell two patterns apart that differ in their expressions alone: then it tells the one that stands in its place.
   */
  addBehind(pattern: string): string | undefined {
    const isNew = (each: string) => !this.#router.hasRoute('GET', each);
    return this.#add(pattern, pathPatterns(pattern).filter(isNew));
  }

  #add(written: string, patterns: readonly string[]): string | undefined {
    if (refusal(this.#router, patterns) !== undefined)
      return this.#patterns.find((earlier) => clash(earlier, patterns)) ?? written;
    this.#patterns.push(written);
    return undefined;
  }
}

function patternFault(text: string): string | undefined {
  const why = refusal(newRouter(), pathPatterns(text));
  if (why !== undefined) return why;
  const [odd] = /[?#]/.exec(withoutExpressions(pathPatterns(text)[0])) ?? [];
  return odd === undefined ? undefined : `a path has no ${odd}`;
}

function clash(one: string, others: readonly string[]): boolean {
  const router = newRouter();
  refusal(router, pathPatterns(one));
  return refusal(router, others) !== undefined;
}

type Router = findMyWay.Instance<findMyWay.HTTPVersion.V1>;

function newRouter(): Router {
  return findMyWay({ ignoreDuplicateSlashes: true, ignoreTrailingSlash: true });
}

/** Adds patterns to the router, or tells why that does not take them. */
function refusal(router: Router, patterns: readonly string[]): string | undefined {
  try {
    for (const pattern of patterns) router.on('GET', pattern, () => {});
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
