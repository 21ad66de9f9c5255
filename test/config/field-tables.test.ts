import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { fieldSections, fillTables } from '../../src/config/field-tables.js';

const PAGE = new URL('../../docs/configuration.md', import.meta.url);

test('docs/configuration.md holds the tables of the schema, word for word', async () => {
  await expect(fillTables(await readFile(PAGE, 'utf8'))).toMatchFileSnapshot('../../docs/configuration.md');
});

test('the page has a place for every section', async () => {
  const page = await readFile(PAGE, 'utf8');
  for (const section of fieldSections().keys()) expect(page).toContain(`<!-- fields: ${section} -->`);
});

test('every field has a value, a default or the word for none, and a sentence of meaning', () => {
  const rows = [...fieldSections()].flatMap(([section, rows]) => rows.map((row) => ({ section, ...row })));
  for (const [section, fields] of fieldSections()) expect(fields, section).not.toEqual([]);
  for (const row of rows) {
    expect(row.value, JSON.stringify(row)).not.toBe('');
    expect(row.default, JSON.stringify(row)).not.toBe('');
    expect(row.meaning, JSON.stringify(row)).toMatch(/^[A-Z].{10,}[.]$/);
  }
});

test('a table replaces what stood between its marks, and nothing else', () => {
  const filled = fillTables('before\n<!-- fields: tiers -->\nold\n<!-- end -->\nafter\n');
  expect(filled).not.toContain('old');
  expect(filled).toMatch(
    /^before\n<!-- fields: tiers -->\n\n\| Field .*\n\| --- .*\n\| `allow` \|[\s\S]*\n\n<!-- end -->\nafter\n$/,
  );
  expect(fillTables(filled)).toBe(filled);
});

test('a section that is not there is told', () => {
  expect(() => fillTables('<!-- fields: nope -->\n<!-- end -->')).toThrow('there is no section "nope"');
});
