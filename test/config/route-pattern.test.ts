import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pathPatterns } from '../../src/config/path-patterns.js';
import type { RouteConfig } from '../../src/config/policy-config.js';
import { ProblemList } from '../../src/config/problem-list.js';
import { routePattern } from '../../src/config/route-pattern.js';
import { checkRoutes } from '../../src/config/route-relations.js';
import { routeTable } from '../../src/policing/route-table.js';

describe('a pattern in one spelling', () => {
  test.each([
    ['/Users/:ID', ['/users/:id']],
    ['/files/*', ['/files/*']],
    ['/users/:id?', ['/users/:id', '/users']],
    ['/:id?', ['/:id', '/']],
    ['/:Id(^[A-Z]+$)/X', ['/:id(^[A-Z]+$)/x']],
    ['/:id(^(A|B)\\)$)/C', ['/:id(^(A|B)\\)$)/c']],
    ['/caf%C3%A9', ['/café']],
    ['/a%2Fb', ['/a%2fb']],
    ['/%', ['/%']],
    ['/u)/X', ['/u)/x']],
  ])('%s', (written, patterns) => {
    expect(pathPatterns(written)).toEqual(patterns);
  });
});

test('what the configuration takes, the table of routes takes: nothing is left to be refused later', () => {
  const part = fc.constantFrom(
    'u',
    'U',
    'v',
    '%75',
    ':id',
    ':Name',
    ':id(^a$)',
    ':id(^A$)',
    ':a-:b',
    ':id?',
    '*',
    '',
    'é',
  );
  const pattern = fc.array(part, { maxLength: 3 }).map((parts) => `/${parts.join('/')}`);
  const odd = fc.constantFrom('*', '/%2A/x', '/(', '/u?', '/:id(', '/u)', 'u');
  const route = fc.record({
    path: fc.oneof({ weight: 9, arbitrary: pattern }, odd),
    method: fc.constantFrom('*', 'GET', 'HEAD', 'POST'),
    policy: fc.constant('p'),
    cost: fc.constant(1),
  });
  const folderBesideExpression = ['/:id(^a$)/u', '/:id(^A$)/u/*'].map((path) => {
    return { path, method: '*', policy: 'p', cost: 1 };
  });
  const refusedTwice = [
    { path: '/:id(^a$)', method: 'GET', policy: 'p', cost: 1 },
    { path: '/:id(^a$)', method: '*', policy: 'p', cost: 1 },
    { path: '/:id(^A$)', method: 'HEAD', policy: 'p', cost: 1 },
  ];
  const longerBefore = [
    { path: '/:id(^A$)/u', method: '*', policy: 'p', cost: 1 },
    { path: '/:id(^a$)', method: 'POST', policy: 'p', cost: 1 },
    { path: '/:id(^A$)', method: '*', policy: 'p', cost: 1 },
  ];
  fc.assert(
    fc.property(fc.array(route, { maxLength: 8 }), (routes) => {
      const taken = takenOf(routes);
      fc.pre(taken.length > 0);
      expect(() => routeTable(taken)).not.toThrow();
    }),
    { numRuns: 1000, examples: [[folderBesideExpression], [refusedTwice], [longerBefore]] },
  );
});

/** The routes that are left when those that the configuration refuses are taken out. */
function takenOf(routes: readonly RouteConfig[]): readonly RouteConfig[] {
  const sound = routes.filter(({ path }) => 'value' in routePattern(path));
  const problems = new ProblemList();
  checkRoutes(sound, problems);
  const faulty = new Set(problems.all().map(({ path }) => path));
  return sound.filter((_, index) => !faulty.has(`routes[${index}].path`));
}
