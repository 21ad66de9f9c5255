import { describe, expect, test } from 'vitest';
import { missingVariables } from '../../src/config/built-in-handlers.js';
import { loadText, problemsOf } from './loading.js';

/** The options of a type `x` with this handler, as they stand in the file from line 4 on. */
const withOptions = (handler: string, ...options: string[]) =>
  [`types:`, `  x: { handler: ${handler}, options:`, ...options.map((line) => `    ${line}`), '  }'].join('\n');

describe('options of handlers that come with Headgate are checked with the file', () => {
  const URL = 'url: https://example.com';

  test.each<[string, string[], string]>([
    ['http', ['{}'], '3:5 types.x.options.url: expected an http or https URL'],
    ['http', ['{ url: ftp://example.com }'], '3:12 types.x.options.url: expected an http or https URL'],
    [
      'http',
      [`{ ${URL}, busyscope: type }`],
      '3:44 types.x.options.busyscope: unknown field; did you mean "busyScope"?',
    ],
    ['http', [`{ ${URL}, method: GET }`], '3:41 types.x.options.method: expected one of POST, PUT, PATCH'],
    [
      'http',
      [`{ ${URL},`, 'headers: { host: me } }'],
      '4:22 types.x.options.headers.host: expected none of this name: the handler sets it itself',
    ],
    [
      'http',
      [`{ ${URL}, cost: { from: usage, par: 3 } }`],
      '3:59 types.x.options.cost.par: unknown field; did you mean "per"?',
    ],
    ['echo', ['{ ms: 5 }'], '3:11 types.x.options.ms: unknown field; there are no options here'],
    ['ocr', ['{ page: ./pages }'], '3:13 types.x.options.page: unknown field; did you mean "pages"?'],
    ['ocr', ['{ pages: 5 }'], '3:14 types.x.options.pages: expected the folder that data.page is below'],
  ])('%s %j: %s', async (handler, options, problem) => {
    expect(await problemsOf(withOptions(handler, ...options))).toEqual([problem]);
  });

  test.each([
    ['http', `{ ${URL}, headers: { authorization: Bearer env:SET_WHERE_WORKERS_RUN } }`],
    ['ocr', '{ pages: ./pages }'],
    ['ocr', '{}'],
    ['echo', '{}'],
    ['./own.mjs', '{ url: 5, anything: [else] }'],
  ])('%s %s: sound', async (handler, options) => {
    expect(await problemsOf(withOptions(handler, options))).toEqual([]);
  });

  test('what cannot be read at all is told once', async () => {
    expect(await problemsOf(withOptions('http', '[]'))).toEqual([
      '3:5 types.x.options: expected a mapping ({} for none); got a list',
    ]);
  });

  test('a name that no handler has is told, with the nearest', async () => {
    expect(await problemsOf('types: { x: { handler: htpp } }')).toEqual([
      '1:24 types.x.handler: there is no built-in handler "htpp"; did you mean "http"?',
    ]);
  });

  test('a variable that is not set here is for the workers to have', async () => {
    const config = await loadText(withOptions('http', `{ ${URL}, headers: { authorization: Bearer env:THE_KEY } }`));
    expect(missingVariables(config, {})).toEqual([
      'types.x.options.headers.authorization: expected the environment variable THE_KEY to be set where its workers run',
    ]);
    expect(missingVariables(config, { THE_KEY: 'secret' })).toEqual([]);
  });
});
