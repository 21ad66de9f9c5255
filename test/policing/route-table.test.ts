import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RouteConfig } from '../../src/config/policy-config.js';
import { routeTable } from '../../src/policing/route-table.js';

/** A route from its line: method, pattern, policy, cost. */
function route(line: string): RouteConfig {
  const [method = '', path = '', policy = '', cost = '1'] = line.split(' ');
  return { method, path, policy, cost: Number(cost) };
}

function tableOf(...lines: string[]) {
  const table = routeTable(lines.map(route));
  return (request: string): string | undefined => {
    const [method = '', ...target] = request.split(' ');
    const found = table.find(method, target.join(' '));
    return found && `${found.policy} ${found.cost}`;
  };
}

const find = tableOf(
  'GET /users/:id read 1',
  'PUT /users/:id write 2',
  '* /users/:id/export export 10',
  'GET /users/me self 0.5',
  'POST /login login 1',
  'GET /files/* files 3',
  'GET /files/public/* public 0.1',
  'GET /reports/:name.PDF pdf 7',
  'GET /orders/:id(^\\d+$) order 4',
  'GET /search/:text? search 6',
  'HEAD /search/:text? cheap 1',
  'GET /caf%C3%A9 coffee 2',
  'GET /a::b colon 5',
);

describe('the route of a request', () => {
  test.each([
    ['GET /users/7', 'read 1'],
    ['PUT /users/7', 'write 2'],
    ['DELETE /users/7', undefined],
    ['GET /users', undefined],
    ['GET /users/7/export', 'export 10'],
    ['PATCH /users/7/export', 'export 10'],
    ['PROPFIND /users/7/export', 'export 10'],
    ['BREW /users/7/export', 'export 10'],
    ['GET /users/7/import', undefined],
    ['GET /files/a/b/c', 'files 3'],
    ['GET /orders/12', 'order 4'],
    ['GET /orders/x', undefined],
    ['GET /search', 'search 6'],
    ['GET /search/word', 'search 6'],
    ['GET /nothing', undefined],
    ['GET /', undefined],
    ['GET /a:b', 'colon 5'],
  ])('%s: %s', (request, expected) => expect(find(request)).toBe(expected));

  test.each([
    ['GET /users/me', 'self 0.5'],
    ['GET /users/mea', 'read 1'],
    ['GET /files/public/a', 'public 0.1'],
    ['GET /files/publicity', 'files 3'],
  ])('is the most specific: %s: %s', (request, expected) => expect(find(request)).toBe(expected));

  test('is the most specific, whichever stands first and whichever names the method', () => {
    const lines = ['* /a/b both 1', 'GET /a/* all 2', 'GET /a/:b one 3', '* /* rest 4', 'POST /a/b post 5'];
    for (const each of [lines, lines.toReversed()]) {
      const find = tableOf(...each);
      expect(['GET /a/b', 'GET /a/c', 'GET /a/c/d', 'PUT /a/c', 'POST /a/b', 'POST /a/c'].map(find)).toEqual([
        'both 1',
        'one 3',
        'all 2',
        'rest 4',
        'post 5',
        'rest 4',
      ]);
    }
  });

  test('is that of everything else with a route for everything, also for what is no path', () => {
    const find = tableOf('* /* all', 'GET /a one');
    expect(['GET /', 'GET ', 'OPTIONS *', 'GET /x', 'BREW /a', 'CONNECT h:443', ' '].map(find)).toEqual(
      Array(7).fill('all 1'),
    );
  });

  test('is none without routes', () => expect(tableOf()('GET /')).toBeUndefined());
});

describe('no spelling leads around a route', () => {
  test.each([
    ['a query', 'POST /login?a=/users/7', 'login 1'],
    ['a query with a slash and dots', 'POST /login?/../x', 'login 1'],
    ['a fragment', 'POST /login#x', 'login 1'],
    ['a slash at the end', 'POST /login/', 'login 1'],
    ['slashes at the end', 'POST /login///?x', 'login 1'],
    ['slashes in front', 'POST //login', 'login 1'],
    ['slashes in between', 'PUT /users//7', 'write 2'],
    ['no slash in front', 'POST login', 'login 1'],
    ['capitals', 'POST /LogIn', 'login 1'],
    ['a method in small letters', 'post /login', 'login 1'],
    ['escaped letters', 'POST /%6c%6Fgin', 'login 1'],
    ['escaped capitals', 'POST /%4cogin', 'login 1'],
    ['dots', 'POST /x/../login', 'login 1'],
    ['dots above the root', 'POST /../../login', 'login 1'],
    ['dots that stay', 'POST /./login/.', 'login 1'],
    ['escaped dots', 'POST /x/%2e%2E/login', 'login 1'],
    ['an escaped slash', 'POST /x/..%2flogin', 'login 1'],
    ['an escaped slash in front', 'POST /%2Flogin', 'login 1'],
    ['a backslash', 'POST \\login', 'login 1'],
    ['an escaped backslash', 'POST /x/..%5clogin', 'login 1'],
    ['a parameter of the segment', 'POST /login;v=1', 'login 1'],
    ['a parameter of the dots', 'POST /x/..;/login', 'login 1'],
    ['an escaped parameter', 'POST /login%3bv=1', 'login 1'],
    ['the form for proxies', 'POST http://example.org/login?x', 'login 1'],
    ['the form for proxies, in capitals', 'POST HTTPS://EXAMPLE.ORG:8443/LOGIN', 'login 1'],
    ['HEAD instead of GET', 'HEAD /users/7', 'read 1'],
    ['HEAD instead of GET, for a folder', 'HEAD /files', 'files 3'],
    ['HEAD, where it has its own', 'HEAD /search/x', 'cheap 1'],
    ['a long segment', `GET /users/${'x'.repeat(5000)}`, 'read 1'],
    ['a long number', `GET /orders/${'1'.repeat(5000)}`, 'order 4'],
    ['a letter that is longer when small', 'GET /users/%C4%B0%C4%B0/export', 'export 10'],
    ['the folder itself', 'GET /files', 'files 3'],
    ['the folder itself with a slash', 'GET /files/', 'files 3'],
    ['the folder in capitals', 'GET /FILES/x', 'files 3'],
    ['small letters where the pattern has capitals', 'GET /reports/x.pdf', 'pdf 7'],
    ['an escaped letter that is not ASCII', 'GET /caf%c3%a9', 'coffee 2'],
    ['a letter that is not ASCII', 'GET /CAFÉ', 'coffee 2'],
    ['an escape that is none', 'GET /users/%zz', 'read 1'],
    ['half an escape', 'GET /users/%', 'read 1'],
    ['bytes that are no text', 'GET /users/%ff%fe', 'read 1'],
    ['NUL', 'GET /users/%00', 'read 1'],
    ['an escaped question mark', 'GET /users/a%3Fb', 'read 1'],
    ['an escaped escape', 'GET /users/%252e%252e', 'read 1'],
  ])('%s: %s', (_, request, expected) => expect(find(request)).toBe(expected));

  test.each([
    ['POST /login%3fx'],
    ['POST /login%23x'],
    ['POST /login%00'],
    ['POST /login%2f..'],
    ['POST /x%252flogin'],
    ['POST /lögin'],
  ])('and none leads to a route that no server would take: %s', (request) => expect(find(request)).toBeUndefined());

  test('what servers read in two ways costs the dearer of the two', () => {
    expect(find('GET /users/7%2Fexport')).toBe('export 10');
    expect(find('GET /users/7%2fimport')).toBe('read 1');
    expect(find('GET /users/7/export;x')).toBe('export 10');
    expect(find('GET /files/public%2f..%2fsecret')).toBe('files 3');
    expect(find('GET /files/public/../secret')).toBe('files 3');
    const cheapInside = tableOf('GET /dear/:id dear 9', 'GET /dear/:id/tail cheap 1');
    expect(cheapInside('GET /dear/7%2Ftail')).toBe('dear 9');
    expect(cheapInside('GET /dear/7/tail')).toBe('cheap 1');
  });

  test('every target finds a route or none, and never throws', () => {
    const table = routeTable([route('GET /a/:b/c x'), route('GET /a/* y'), route('* /:z(^[a-z]+$) z')]);
    const pieces = fc.constantFrom(
      '/',
      'a',
      'c',
      '%',
      '%2',
      '%2f',
      '%2e',
      '..',
      '.',
      ';',
      '\\',
      '?',
      '#',
      ':',
      '*',
      'é',
      '\ud800',
      '%ff',
      'http://',
    );
    const target = fc.oneof(
      fc.array(pieces, { maxLength: 12 }).map((each) => each.join('')),
      fc.string({ unit: 'binary' }),
    );
    fc.assert(
      fc.property(fc.oneof(fc.constantFrom('GET', 'HEAD', '*', '__proto__'), fc.string()), target, (method, path) => {
        const found = table.find(method, path);
        expect(found === undefined || 'xyz'.includes(found.policy)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  test('what is put in front of a route and taken back leads to it', () => {
    const segment = fc.string({ unit: fc.constantFrom('a', '%41', '.a', 'é', '-'), minLength: 1, maxLength: 5 });
    const up = fc.constantFrom('..', '%2e%2e', '.%2E', '..;x=1');
    const slash = fc.constantFrom('/', '//', '/./', '%2f', '\\');
    const detour = fc.tuple(segment, slash, up, slash).map((each) => each.join(''));
    fc.assert(
      fc.property(slash, fc.array(detour, { maxLength: 4 }), (first, detours) => {
        expect(find(`POST ${first}${detours.join('')}login`)).toBe('login 1');
      }),
    );
  });
});

describe('a table cannot be made', () => {
  test.each([
    ['of two routes that are the same but for case', 'GET /a/b x', 'GET /A/b y', /GET \/A\/b/],
    ['of two routes that are the same but for a slash', 'GET /a x', 'GET /a/ y', /GET \/a\//],
    ['of two routes that are the same but for a name', '* /a/:b x', '* /a/:c y', /\* \/a\/:c/],
    ['of a pattern that is none', 'GET /a x', 'GET b y', /GET b .*first character/],
  ])('%s', (_, one, other, message) => {
    expect(() => routeTable([route(one), route(other)])).toThrow(message);
  });
});
