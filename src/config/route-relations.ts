import type { ProblemList } from './problem-list.js';
import { PatternTable } from './route-pattern.js';
import type { RouteFields } from './route-schema.js';

/** Adds every route that cannot stand beside another one: no two match the same requests alike. */
export function checkRoutes(routes: readonly RouteFields[], problems: ProblemList): void {
  const isSound = (index: number) =>
    [[], ['method'], ['path']].every((field) => problems.sound(['routes', index, ...field]));
  const sound = [...routes.entries()].filter(([index]) => isSound(index));
  const add = (index: number, inPlace: string | undefined, message: (pattern: string) => string) => {
    if (inPlace !== undefined && isSound(index)) problems.add(['routes', index, 'path'], message(inPlace));
  };

  const methods = new Set(sound.map(([, { method }]) => method));
  for (const method of methods) {
    const table = new PatternTable();
    for (const [index, { path }] of sound.filter(([, route]) => route.method === method))
      add(index, table.add(path), (pattern) => `a route for ${pattern} and the same method stands here already`);
    const behind = BEHIND[method] ?? ['*'];
    for (const [index, { path }] of behind.flatMap((other) => sound.filter(([, route]) => route.method === other)))
      add(
        index,
        table.addBehind(path),
        (pattern) => `the route for ${method} ${pattern} differs from this one in its expression alone`,
      );
    for (const [index, { path }] of [method, ...behind].flatMap((other) =>
      sound.filter(([, route]) => route.method === other),
    ))
      add(
        index,
        table.addFolders(path),
        (pattern) => `the route for ${method} ${pattern} differs from the folder of this one in its expression alone`,
      );
  }
}

/** Whose routes stand behind those of a method. */
const BEHIND: Readonly<Record<string, readonly string[]>> = { HEAD: ['GET', '*'], '*': [] };
