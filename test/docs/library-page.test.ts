import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import * as library from '../../src/index.js';
import { examplePrints } from './page-example.js';

test('every function and class on the page is exported', async () => {
  const page = await readFile(new URL('../../docs/library.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| (`.*`) \| /gm)].map(([, names = '']) => names);
  const values = rows.flatMap((names) => names.split(', ')).map((name) => name.slice(1, -1));
  const types = ['Settings'];
  const missing = values.filter((name) => !(name in library) && !types.includes(name));
  expect(values.length).toBeGreaterThan(15);
  expect(missing).toEqual([]);
});

test('the example of the page prints what the page says', () => examplePrints('library.md', 'library'), 180_000);
