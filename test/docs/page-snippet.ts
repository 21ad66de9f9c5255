import { readFile } from 'node:fs/promises';

/** The text in docs/`page` that follows `<!-- snippet: name -->`. */
export async function pageSnippet(page: string, name: string): Promise<string> {
  const text = await readFile(new URL(`../../docs/${page}`, import.meta.url), 'utf8');
  const [, rest = ''] = text.split(`<!-- snippet: ${name} -->`);
  const [, snippet] = /^\n\n```\w*\n([\s\S]*?)^```$/m.exec(rest) ?? [];
  if (snippet === undefined) throw new Error(`docs/${page} has no snippet ${name}`);
  return snippet;
}
