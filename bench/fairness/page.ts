import { readFile, writeFile } from 'node:fs/promises';

/** Puts `text` between the two marks `<!-- name -->` and `<!-- /name -->` of a page. */
export async function fillPage(file: URL, name: string, text: string): Promise<void> {
  const page = await readFile(file, 'utf8');
  const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from < 0 || to < from) throw new Error(`${file.pathname} has no place for ${name}`);
  await writeFile(file, `${page.slice(0, from + begin.length)}\n\n${text}\n\n${page.slice(to)}`);
}
