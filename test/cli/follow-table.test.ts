import { expect, test } from 'vitest';
import { followTable, type TableScreen } from '../../src/cli/follow-table.js';

/** What is written of a table that is these, one after another. */
async function written(tables: readonly (readonly string[])[], screen: Partial<TableScreen>): Promise<string[]> {
  const stop = new AbortController();
  const left = [...tables];
  const texts: string[] = [];
  const read = async () => {
    const next = left.shift() ?? [];
    if (left.length === 0) stop.abort();
    return next;
  };
  await followTable(read, { ...screen, write: (text) => texts.push(text) }, { stop: stop.signal, everyMs: 1 });
  return texts;
}

const TABLES = [['id  state', 'a   waiting'], ['id  state', 'a   waiting'], ['id  state', 'b   waiting'], []];

test('a terminal has the table in one place, and draws it anew only when it is another', async () => {
  expect(await written(TABLES, { isTTY: true })).toEqual([
    'id  state\na   waiting\n',
    '\x1b[2A\x1b[Jid  state\nb   waiting\n',
    '\x1b[2A\x1b[J',
  ]);
});

test('a terminal has as much of it as fits', async () => {
  expect(await written([['id  state', 'a   waiting', 'b   waiting']], { isTTY: true, rows: 3, columns: 7 })).toEqual([
    'id  st\na   wa\n',
  ]);
});

test('elsewhere a line is written when it was not there before', async () => {
  expect(await written(TABLES.slice(0, 3), {})).toEqual(['id  state\na   waiting\n', 'b   waiting\n']);
});
