/**
 * Renders the demo's pages from `pages.json` as grayscale PNG files into `pages/`.
 *
 * The files are committed; this is needed only after the text was changed. It takes ImageMagick 6 or 7 and the font
 * DejaVu Serif (Debian: imagemagick, fonts-dejavu-core): `npx jiti bench/demo/render-pages.ts [path of convert]`
 */
import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PAGES_FOLDER, readPages } from './pages.js';

const run = promisify(execFile);
const convert = process.argv[2] ?? 'convert';

await mkdir(PAGES_FOLDER, { recursive: true });
for (const page of await readPages()) {
  const look = '-background white -fill black -font DejaVu-Serif -pointsize 28 -interline-spacing 8 -size 820x';
  const format = '-bordercolor white -border 60 -colorspace Gray -depth 4 -strip -define png:compression-level=9';
  const file = join(PAGES_FOLDER, page.file);
  await run(convert, [...look.split(' '), `caption:${page.text}`, ...format.split(' '), file]);
  process.stdout.write(`${file}\n`);
}
