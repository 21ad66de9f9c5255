import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { describeProgram } from '../../src/cli/program.js';

/** Every command that does something, by its path. */
function leaves(command: Command, path: string): [string, Command][] {
  if (command.commands.length === 0) return [[path, command]];
  return command.commands.flatMap((each) => leaves(each, `${path} ${each.name()}`));
}

const program = describeProgram('0', () => undefined);
const commands = program.commands.flatMap((each) => leaves(each, each.name()));

test('all commands are there', () => {
  expect(commands.map(([path]) => path).toSorted()).toEqual(
    [
      ...['start', 'serve', 'work', 'stop', 'quote', 'config check', 'doctor', 'migrate'],
      ...['submit', 'get', 'watch', 'cancel', 'retry', 'list'].map((verb) => `jobs ${verb}`),
      ...['list', 'add', 'get', 'set', 'pause', 'resume', 'purge'].map((verb) => `tenants ${verb}`),
      ...['list', 'create', 'revoke'].map((verb) => `tenants keys ${verb}`),
    ].toSorted(),
  );
});

describe.each(commands)('headgate %s', (path, command) => {
  test('says what it does, and what each argument and option means', () => {
    const help = command.helpInformation();
    expect(help).toMatch(/^Usage: /);
    expect(command.description()).not.toBe('');
    const options = command.options.map(({ long, description }) => ({ name: long, description }));
    const given = command.registeredArguments.map((each) => ({ name: each.name(), description: each.description }));
    expect([...options, ...given].filter(({ description }) => description === '')).toEqual([]);
  });

  test('speaks JSON when asked to', () => {
    expect(
      command.options.some(({ long }) => long === '--json'),
      path,
    ).toBe(true);
  });
});
