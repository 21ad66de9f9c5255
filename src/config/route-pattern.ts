import findMyWay from 'find-my-way';
import type { Decoded } from './field.js';
import { folderPatterns, pathPatterns, patternForm, withoutExpressions } from './path-patterns.js';
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
  #router = newRouter();
  /** Of all that was added: the router itself takes one pattern for another where a longer one begins with it. */
  readonly #forms = new Set<string>();
  readonly #added: { readonly written: string; readonly patterns: readonly string[] }[] = [];

  /** Adds a pattern; or tells the one that stands in its place. */
  add(pattern: string): string | undefined {
    return this.#add(pattern, pathPatterns(pattern));
  }

  /**
   * Adds a pattern of a more general method, which counts only where none of this method is the same. The router cannot
   * tell two patterns apart that differ in their expressions alone: then it tells the one that stands in its place.
   */
  addBehind(pattern: string): string | undefined {
    return this.#add(pattern, pathPatterns(pattern).filter(this.#isNew));
  }

  /** Adds the folders of a pattern, which count where nothing else does, once all patterns stand; as {@link addBehind} does. */
  addFolders(pattern: string): string | undefined {
    return this.#add(pattern, folderPatterns(pattern).filter(this.#isNew));
  }

  readonly #isNew = (pattern: string): boolean => !this.#forms.has(patternForm(pattern));

  #add(written: string, patterns: readonly string[]): string | undefined {
    if (refusal(this.#router, patterns) === undefined) {
      this.#added.push({ written, patterns });
      for (const pattern of patterns) this.#forms.add(patternForm(pattern));
      return undefined;
    }
    // What was refused has left traces in the router.
    this.#router = newRouter();
    for (const earlier of this.#added) refusal(this.#router, earlier.patterns);
    return this.#added.find((earlier) => clash(earlier.patterns, patterns))?.written ?? written;
  }
}

function patternFault(text: string): string | undefined {
  const why = refusal(newRouter(), pathPatterns(text));
  if (why !== undefined) return why;
  const [odd] = /[?#]/.exec(withoutExpressions(pathPatterns(text)[0])) ?? [];
  return odd === undefined ? undefined : `a path has no ${odd}`;
}

function clash(one: readonly string[], others: readonly string[]): boolean {
  const router = newRouter();
  refusal(router, one);
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
