import { describe, expect, test } from 'vitest';
import { LiveConfig } from '../../src/config/live-config.js';
import { overrideFault } from '../../src/config/override-relations.js';
import { loadText, problemsOf } from './loading.js';

const FAULT = 'a type of several shards has no capacity of its own; expected unlimited, or shards: 1 in place of 4';

describe('a type of several shards', () => {
  test.each([
    ['rate: 20/s', `4:23 types.ocr.capacity.rate: ${FAULT}`],
    ['concurrency: 2', `4:30 types.ocr.capacity.concurrency: ${FAULT}`],
  ])('can have no capacity, such as %s', async (field, problem) => {
    expect(await problemsOf(`shards: 4\ntypes:\n  ocr:\n    capacity: { ${field} }\n`)).toEqual([problem]);
  });

  test('can be paused, and be without a limit', async () => {
    expect(
      (
        await loadText(
          'shards: 4\ntypes: { ocr: { capacity: { rate: 0 } }, chat: { capacity: { rate: unlimited } } }\n',
        )
      ).shards,
    ).toBe(4);
  });

  test('of one shard there is a capacity', async () => {
    expect((await loadText('shards: 1\ntypes: { ocr: { capacity: { rate: 20/s } } }\n')).shards).toBe(1);
  });

  test('can be given none at run time either', async () => {
    const live = new LiveConfig(await loadText('shards: 4\ntypes: { ocr: {} }\n'));
    const fault = (field: string, value: string) =>
      overrideFault(live, { kind: 'type', name: 'ocr' }, new Map([[field, value]]));
    expect(fault('capacity.rate', '20/s')).toEqual({ kind: 'invalid', field: 'capacity.rate', message: FAULT });
    expect(fault('capacity.concurrency', '2')).toEqual({
      kind: 'invalid',
      field: 'capacity.concurrency',
      message: FAULT,
    });
    expect(fault('capacity.rate', '0')).toBeUndefined();
    expect(fault('paused', '1')).toBeUndefined();
  });
});
