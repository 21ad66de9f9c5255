import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { BULLMQ_COMMANDS, type Treatment } from '../../src/shaping/bullmq-commands.js';
import { examplePrints } from './page-example.js';

const LUA = fileURLToPath(new URL('../../lua', import.meta.url));
const page = await readFile(new URL('../../docs/bullmq.md', import.meta.url), 'utf8');

test('the page has every command of BullMQ, what becomes of it, and the scripts that contain it', async () => {
  expect(documented().map(([command, treatment, verbs]) => [command, treatment, verbs])).toEqual(await implemented());
});

test('the page says of every command what it does to the schedule', () => {
  for (const [command, , , effect] of documented()) expect(effect, command).toMatch(/\w/);
});

test('the example of the page prints what the page says', () => examplePrints('bullmq.md', 'queue'), 180_000);

/** The rows of the page's table, cell by cell. */
function documented(): string[][] {
  const [, table = ''] = /<!-- commands -->\n\n([\s\S]*?)\n\n<!-- end -->/.exec(page) ?? [];
  return table
    .split('\n')
    .slice(2)
    .map((row) => row.slice(2, -2).split(' | '))
    .map((cells) => cells.map((cell) => cell.trim()));
}

/** What the first three cells of each row have to say. */
async function implemented(): Promise<string[][]> {
  const containing = await verbsByCommand();
  return Object.entries(BULLMQ_COMMANDS).map(([command, treatment]) => [
    `\`${command}\``,
    inWords(treatment),
    verbsOf(treatment, containing.get(command) ?? [])
      .map((verb) => `\`${verb}\``)
      .join(', '),
  ]);
}

function inWords(treatment: Treatment): string {
  switch (treatment.kind) {
    case 'pass':
      return 'as it is';
    case 'refuse':
      return `refused: ${treatment.instead}`;
    case 'touch-job':
      return 'inside `touch_job`';
    case 'touch-bucket':
      return 'inside `touch_bucket`';
  }
}

function verbsOf(treatment: Treatment, containing: readonly string[]): string[] {
  if (treatment.kind === 'touch-job') return ['touch_job', ...containing];
  if (treatment.kind === 'touch-bucket') return ['touch_bucket', ...containing];
  return [...containing];
}

/** By command of BullMQ, the verbs of `lua/` that contain its script, by themselves or in a piece that they include. */
async function verbsByCommand(): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  const files = (await readdir(LUA)).filter((name) => name.endsWith('.lua')).sort();
  for (const file of files) {
    const verb = file.slice(0, -4);
    for (const command of await commandsIn(verb)) found.set(command, [...(found.get(command) ?? []), verb]);
  }
  return found;
}

async function commandsIn(path: string): Promise<Set<string>> {
  const text = await readFile(join(LUA, `${path}.lua`), 'utf8');
  const own = [...text.matchAll(/^--- @bull (\w+)$/gm)].map(([, name = '']) => name);
  const included = [...text.matchAll(/^--- @include "(.*)"$/gm)].map(([, name = '']) => name);
  const theirs = await Promise.all(included.map(commandsIn));
  return new Set([...own, ...theirs.flatMap((commands) => [...commands])]);
}
