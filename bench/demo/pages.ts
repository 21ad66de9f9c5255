import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** One page of the demo: a PNG below `pages/` and the text that stands on it. */
export interface Page {
  readonly file: string;
  readonly text: string;
}

export const DEMO_FOLDER = dirname(fileURLToPath(import.meta.url));
export const PAGES_FOLDER = join(DEMO_FOLDER, 'pages');

/** The pages and their true text, from `pages/pages.json`. */
export async function readPages(): Promise<readonly Page[]> {
  const file = join(PAGES_FOLDER, 'pages.json');
  const pages: unknown = JSON.parse(await readFile(file, 'utf8'));
  if (!Array.isArray(pages) || pages.length === 0) throw new Error(`${file}: expected a list of pages`);
  return pages.map((page: unknown) => {
    if (isPage(page)) return page;
    throw new Error(`${file}: expected { "file", "text" }, found ${JSON.stringify(page)}`);
  });
}

function isPage(value: unknown): value is Page {
  if (typeof value !== 'object' || value === null || !('file' in value) || !('text' in value)) return false;
  return typeof value.file === 'string' && typeof value.text === 'string';
}
