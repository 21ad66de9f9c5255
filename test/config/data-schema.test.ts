import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readDataSchema } from '../../src/config/data-schema.js';
import { folderWith } from './loading.js';

const DRAFTS =
  'https://json-schema.org/draft-03/schema, https://json-schema.org/draft-04/schema, https://json-schema.org/draft-06/schema, https://json-schema.org/draft-07/schema, https://json-schema.org/draft/2019-09/schema, https://json-schema.org/draft/2020-12/schema';

test.each([
  ['{}'],
  ['{"type":"object","required":["pages"],"properties":{"pages":{"type":"integer","minimum":1}}}'],
  ['{"$schema":"http://json-schema.org/draft-07/schema#","type":"string"}'],
  ['{"$schema":"http://json-schema.org/draft-07/schema","type":"string"}'],
  ['{"$schema":"https://json-schema.org/draft/2020-12/schema","$ref":"#/$defs/a","$defs":{"a":{"type":"null"}}}'],
])('a schema is read: %s', async (text) => {
  const folder = await folderWith({ 's.json': text });
  expect(await readDataSchema(join(folder, 's.json'))).toEqual({ schema: JSON.parse(text) });
});

test.each([
  ['', 'FILE is not JSON: Unexpected end of JSON input'],
  ['{"type":', 'FILE is not JSON: Unexpected end of JSON input'],
  ['[]', 'FILE: expected a JSON object'],
  ['null', 'FILE: expected a JSON object'],
  ['true', 'FILE: expected a JSON object'],
  ['{"type":"objec"}', 'FILE: not a JSON Schema: /type must be equal to one of the allowed values'],
  ['{"properties":{"a":{"minimum":"x"}}}', 'FILE: not a JSON Schema: /properties/a/minimum must be number'],
  ['{"pattern":"("}', 'FILE: not a JSON Schema: /pattern must match format "regex"'],
  ['{"$schema":"https://example.org/mine"}', `FILE: $schema: expected one of ${DRAFTS}`],
  ['{"$schema":5}', `FILE: $schema: expected one of ${DRAFTS}`],
])('a text that is no schema is told: %s', async (text, fault) => {
  const folder = await folderWith({ 's.json': text });
  const file = join(folder, 's.json');
  expect(await readDataSchema(file)).toEqual({ fault: fault.replace('FILE', file) });
});

test('a schema nested beyond reason is told, and does not bring the process down', async () => {
  const depth = 20_000;
  const folder = await folderWith({ 's.json': `${'{"not":'.repeat(depth)}{}${'}'.repeat(depth)}` });
  expect(await readDataSchema(join(folder, 's.json'))).toEqual({
    fault: expect.stringContaining('not a usable JSON Schema'),
  });
});
