import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { describeProgram } from '../../src/cli/program.js';

const page = await readFile(new URL('../../docs/cli.md', import.meta.url), 'utf8');
/** Those that run Headgate itself have a page of their own. */
const ELSEWHERE = ['start', 'serve', 'work', 'stop'];

/** `headgate jobs submit`, and all others that do something. */
function commandsOf(command: Command, path: string): { path: string; command: Command }[] {
  if (command.commands.length === 0) return [{ path, command }];
  return command.commands.flatMap((each) => commandsOf(each, `${path} ${each.name()}`));
}

test('the page names every command and each of its options', () => {
  const program = describeProgram('0', () => undefined);
  const commands = program.commands
    .filter((each) => !ELSEWHERE.includes(each.name()))
    .flatMap((each) => commandsOf(each, `headgate ${each.name()}`));
  expect(commands.length).toBeGreaterThan(14);
  for (const { path, command } of commands) {
    expect(page).toContain(`\`${path}`);
    const missing = command.options.map(({ long }) => String(long)).filter((long) => !page.includes(long));
    expect(missing).toEqual([]);
  }
});
