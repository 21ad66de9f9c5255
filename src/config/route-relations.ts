import type { ProblemList } from './problem-list.js';
import { PatternTable } from './route-pattern.js';
import type { RouteFields } from './route-schema.js';

/** Adds every route that another one makes pointless: no two match the same requests alike. */
export function checkRoutes(routes: readonly RouteFields[], problems: ProblemList): void {
  const tables = new Map<string, PatternTable>();
  for (const [index, { method, path }] of routes.entries()) {
    const place = ['routes', index];
    if (![place, [...place, 'method'], [...place, 'path']].every((each) => problems.sound(each))) continue;
    const table = tables.get(method) ?? new PatternTable();
    tables.set(method, table);
    const clash = table.add(path);
    if (clash !== undefined)
      problems.add([...place, 'path'], `a route for ${clash.repeats} and the same method stands here already`);
  }
}
