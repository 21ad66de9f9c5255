import type { RouteOptions } from 'fastify';

/** Which methods each path answers to: tells a wrong method (405) from a wrong address (404). */
export class RouteMethods {
  readonly #methods = new Map<string, Set<string>>();

  /** An `onRoute` hook. */
  readonly add = (route: RouteOptions): void => {
    const methods = this.#methods.get(route.url) ?? new Set();
    for (const method of [route.method].flat()) methods.add(method);
    this.#methods.set(route.url, methods);
  };

  /** The methods that `url` answers to, in alphabetical order; empty when there is nothing at it. */
  at(url: string): readonly string[] {
    const path = url.split('?', 1)[0] ?? '';
    const found = new Set<string>();
    for (const [pattern, methods] of this.#methods) {
      if (matches(pattern, path)) for (const method of methods) found.add(method);
    }
    return [...found].sort();
  }
}

function matches(pattern: string, path: string): boolean {
  const steps = path.split('/');
  const expected = pattern.split('/');
  return (
    steps.length === expected.length &&
    expected.every((step, index) => (step.startsWith(':') ? steps[index] !== '' : step === steps[index]))
  );
}
