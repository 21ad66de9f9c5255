import { describe, expect, test } from 'vitest';
import { withPrivateNames } from '../../src/redis/private-names.js';

describe('of the names of a text', () => {
  test.each([
    {
      title: 'those that nobody else uses stay inside',
      text: 'local STEP = 2\nlocal function twice(x)\n  return STEP * x\nend',
      block: 'local twice;\n(function()\nlocal STEP = 2\nfunction twice(x)\n  return STEP * x\nend\nend)();',
    },
    {
      title: 'those that are given a value later are declared alone',
      text: 'local now, ty\nlocal function begin_type()\n  now = 1\nend',
      block: 'local now, ty, begin_type;\n(function()\nfunction begin_type()\n  now = 1\nend\nend)();',
    },
    {
      title: 'those declared together stay together',
      text: 'local NOWHERE, now = 0, 1',
      block: 'local NOWHERE, now;\n(function()\nNOWHERE, now = 0, 1\nend)();',
    },
    { title: 'none at all', text: 'local NOWHERE = 0', block: '(function()\nlocal NOWHERE = 0\nend)();' },
  ])('$title', ({ text, block }) => {
    expect(withPrivateNames([text], 'begin_type() return twice(now)')).toEqual([block]);
  });

  test('what an earlier text calls the same is another one', () => {
    const texts = ['local function seen()\nend', 'local function mine()\n  return seen()\nend'];
    expect(withPrivateNames(texts, '')[0]).toContain('local seen;\n');
    expect(withPrivateNames(texts.toReversed(), '')[1]).toBe('(function()\nlocal function seen()\nend\nend)();');
  });
});

test("BullMQ's own helpers stay as they are: inside unless a later text uses them, or one that does", () => {
  const [mine, theirs, deep] = ['mine', 'theirs', 'deep'].map((name) => `local function ${name}()\nend`);
  const uses = 'local function uses()\n  return deep()\nend';
  const bull = 'function bull_add(KEYS, ARGV)\nlocal jobId\nend';
  const text = [mine, deep, uses, theirs, `local ${bull}`].join('\n');
  expect(withPrivateNames([text], 'bull_add() theirs() uses()')).toEqual([
    [deep, uses, theirs, 'local bull_add;', '(function()', mine, bull, 'end)();'].join('\n'),
  ]);
});

test('more shared names than Lua can keep are refused at once, with the number', () => {
  const many = Array.from({ length: 200 }, (_, i) => `local n${i} = 0`).join('\n');
  expect(() => withPrivateNames([many], many)).toThrow('200 shared names');
});
