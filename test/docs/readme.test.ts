import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const readme = await readFile(join(ROOT, 'README.md'), 'utf8');
const [, standsOn = ''] = readme.split('## What it stands on');

test('the README names every dependency with the version that is pinned, and no other', () => {
  const table = [...standsOn.matchAll(/^\| (`.*?`) \| (\d.*?) \|/gm)].flatMap(([, names = '', versions = '']) => {
    const each = versions.split(', ');
    return names.split(', ').map((name, i) => [name.slice(1, -1), each[i]]);
  });
  expect(Object.fromEntries(table)).toEqual(manifest.dependencies);
});

test('the README names every development dependency and override with its version', () => {
  const pinned = { ...manifest.devDependencies, ...manifest.overrides };
  const missing = Object.entries(pinned).filter(([name, version]) => !standsOn.includes(`\`${name}\` ${version}`));
  expect(missing).toEqual([]);
});

test('every link from one page to another leads to a file', async () => {
  const pages = (await readdir(join(ROOT, 'docs'), { recursive: true })).filter((name) => name.endsWith('.md'));
  const links = await Promise.all(['README.md', ...pages.map((page) => `docs/${page}`)].map(linksOf));
  expect(links.flat().length).toBeGreaterThan(15);
  expect(links.flat().filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});

/** Files of this project that a page links to, from the root. */
async function linksOf(page: string): Promise<string[]> {
  const text = await readFile(join(ROOT, page), 'utf8');
  const links = [...text.matchAll(/\]\(([^)\s#]+)/g)].map(([, link = '']) => link);
  return links.filter((link) => !link.includes(':')).map((link) => join(page, '..', link));
}
