import findMyWay from 'find-my-way';
import { folderPatterns, pathPatterns, patternForm } from '../config/path-patterns.js';
import type { RouteConfig } from '../config/policy-config.js';
import { readPath } from './request-path.js';

/** Says which policy a request is held to. */
export interface RouteTable {
  /**
   * The route of a request, or `undefined` when none matches. Never throws, whatever the texts.
   *
   * @param method In any case.
   * @param target As it came: with or without a query, in origin or absolute form.
   */
  find(method: string, target: string): RouteConfig | undefined;
}

type Router = findMyWay.Instance<findMyWay.HTTPVersion.V1>;

/** All routes stand in trees of this method; there is a tree for each method, also for those that HTTP does not know. */
const TREE = 'GET';
const ANY = '*';

/** A longer segment is a segment too. */
const MAX_SEGMENT = Number.MAX_SAFE_INTEGER;

/**
 * The table of the routes. The most specific pattern counts, whatever the order; of two routes of one pattern the one
 * that names the method. So that nobody gets around a route by spelling:
 *
 * - case, a slash at the end, repeated slashes and escapes make no difference;
 * - `/files/*` is also `/files`;
 * - HEAD is held to the routes of GET, unless it has its own;
 * - where servers disagree on what a path means (`%2F`, `..`, `;`, `\`), the dearer of the routes that it may mean counts.
 *
 * @throws Error when two routes of one method have patterns that match the same paths.
 */
export function routeTable(routes: readonly RouteConfig[]): RouteTable {
  if (routes.length === 0) return { find: () => undefined };
  const methods = new Set(['HEAD', ...routes.map(({ method }) => method.toUpperCase())]);
  const routers = new Map([...methods].map((method) => [method, routerOf(method, routes)]));
  const other = routerOf(ANY, routes);
  return {
    find(method, target) {
      const router = routers.get(method) ?? routers.get(method.toUpperCase()) ?? other;
      const { plain, lenient } = readPath(target);
      const route = lookUp(router, lenient);
      if (plain === lenient) return route;
      const asWritten = lookUp(router, plain);
      if (route === undefined || asWritten === undefined) return route ?? asWritten;
      return asWritten.cost > route.cost ? asWritten : route;
    },
  };
}

/** The routes that a method is held to: its own, and behind them those that stand for it. */
function routerOf(method: string, routes: readonly RouteConfig[]): Router {
  const router = findMyWay({ ignoreDuplicateSlashes: true, ignoreTrailingSlash: true, maxParamLength: MAX_SEGMENT });
  const ranks = method === 'HEAD' ? ['HEAD', 'GET', ANY] : method === ANY ? [ANY] : [method, ANY];
  const inOrder = ranks.map((rank) => routes.filter((route) => route.method.toUpperCase() === rank));
  const taken = new Set<string>();
  for (const equals of inOrder) addAll(router, taken, equals);
  for (const route of inOrder.flat()) addFolder(router, taken, route);
  return router;
}

/** Adds routes of one rank: over those that stand already they do not count, but among themselves they must not clash. */
function addAll(router: Router, taken: Set<string>, routes: readonly RouteConfig[]): void {
  const entries = routes.flatMap((route) => pathPatterns(route.path).map((pattern) => ({ route, pattern })));
  for (const { route, pattern } of entries.filter((entry) => !taken.has(patternForm(entry.pattern)))) {
    try {
      router.on(TREE, pattern, noHandler, route);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(`route ${route.method} ${route.path} is none, or matches what another one matches: ${why}`);
    }
    taken.add(patternForm(pattern));
  }
}

/** What holds for all in a folder holds for the folder, unless a route says otherwise. */
function addFolder(router: Router, taken: Set<string>, route: RouteConfig): void {
  for (const folder of folderPatterns(route.path)) {
    if (taken.has(patternForm(folder))) continue;
    router.on(TREE, folder, noHandler, route);
    taken.add(patternForm(folder));
  }
}

function lookUp(router: Router, path: string): RouteConfig | undefined {
  // The router reads escapes, queries and fragments of its own; here these characters are those of the path.
  const escaped = path.replace(/[%?#]/g, encodeURIComponent);
  return router.find(TREE, escaped)?.store;
}

function noHandler(): void {}
