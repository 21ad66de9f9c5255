import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { bullScripts } from '../../src/redis/script-source.js';
import { BULLMQ_COMMANDS } from '../../src/shaping/bullmq-commands.js';
import { changedScripts } from './bullmq-contract.js';
import pinned from './bullmq-scripts.json' with { type: 'json' };

const texts = new Map([...bullScripts.values()].map(({ name, content }) => [name, content]));
const LUA = fileURLToPath(new URL('../../lua', import.meta.url));

/** BullMQ's scripts that stand in ours, and those that ours wrap by name. */
function embedded(): string[] {
  const files = readdirSync(LUA, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.lua'));
  const named = files.flatMap((file) => [...readFileSync(`${LUA}/${file}`, 'utf8').matchAll(/^--- @bull (\w+)$/gm)]);
  const wrapped = Object.entries(BULLMQ_COMMANDS).filter(([, treatment]) => 'script' in treatment);
  return [...new Set([...named.map(([, name]) => name ?? ''), ...wrapped.map(([name]) => name)])].sort();
}

test('every script of BullMQ that ours contain is the one that they were built on', () => {
  expect(changedScripts(pinned.sha256, texts)).toEqual([]);
});

test('the installed version is the pinned one', () => {
  const { version } = createRequire(import.meta.url)('bullmq/package.json');
  expect(version).toBe(pinned.version);
});

test('every script of BullMQ that ours contain is pinned, and no other', () => {
  expect(Object.keys(pinned.sha256).sort()).toEqual(embedded());
});

test('every command of BullMQ has a treatment, and every treatment a command', () => {
  const treated = Object.keys(BULLMQ_COMMANDS).sort();
  // Relays are a service of their own; no queue calls them.
  expect([...texts.keys()].filter((name) => !name.startsWith('relay')).sort()).toEqual(treated);
});

describe('the check says which script', () => {
  test('has changed, and where to read on', () => {
    const other = new Map(texts).set('moveToActive', `${texts.get('moveToActive')}\n`);
    expect(changedScripts(pinned.sha256, other)).toEqual([
      `BullMQ's script "moveToActive" has changed, and Headgate contains it: follow docs/bullmq-upgrade.md.`,
    ]);
  });

  test('is gone', () => {
    const other = new Map(texts);
    other.delete('promote');
    expect(changedScripts(pinned.sha256, other)).toEqual([
      'BullMQ has no script "promote" any more: follow docs/bullmq-upgrade.md.',
    ]);
  });
});
