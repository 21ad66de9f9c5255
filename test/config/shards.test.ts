import { expect, test } from 'vitest';
import { LiveConfig } from '../../src/config/live-config.js';
import { overrideFault } from '../../src/config/override-relations.js';
import { loadText } from './loading.js';

test.each(['rate: 20/s', 'concurrency: 2', 'rate: 0', 'rate: unlimited'])(
  'a type of several shards may have a capacity, such as %s',
  async (field) => {
    const { shards } = await loadText(`shards: 4\ntypes:\n  ocr:\n    capacity: { ${field} }\n`);
    expect(shards).toBe(4);
  },
);

test.each([
  ['capacity.rate', '20/s'],
  ['capacity.rate', '0'],
  ['capacity.concurrency', '2'],
  ['paused', '1'],
])('and be given one at run time: %s %s', async (field, value) => {
  const live = new LiveConfig(await loadText('shards: 4\ntypes: { ocr: {} }\n'));
  expect(overrideFault(live, { kind: 'type', name: 'ocr' }, new Map([[field, value]]))).toBeUndefined();
});
