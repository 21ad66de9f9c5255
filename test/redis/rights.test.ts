import { readdirSync, readFileSync } from 'node:fs';
import { list as REDIS_COMMANDS } from '@ioredis/commands';
import { expect, test } from 'vitest';
import { library as leases } from '../../src/policing/lease-scripts.js';
import { library as limits } from '../../src/policing/scripts.js';
import { aclRules, commandOf, DIRECT, IN_SCRIPTS } from '../../src/redis/rights.js';
import { library as apiKeys } from '../../src/shaping/api-key-scripts.js';
import { library as forward } from '../../src/shaping/migration/forward-scripts.js';
import { library as overrides } from '../../src/shaping/override-scripts.js';
import { library as permits } from '../../src/shaping/permit-scripts.js';
import { library as shaping } from '../../src/shaping/scripts.js';
import { library as surveys } from '../../src/shaping/survey-scripts.js';

const PAGE = new URL('../../docs/redis.md', import.meta.url);
const LIBRARIES = [leases, limits, apiKeys, forward, overrides, permits, shaping, surveys];
const ROOT = new URL('../../', import.meta.url);

test('the rights in scripts are the commands that the scripts call, BullMQ’s own among them', () => {
  const known = new Set(REDIS_COMMANDS);
  const quoted = LIBRARIES.flatMap(({ text }) => [...text.matchAll(/(["'])([A-Z]{3,})\1/g)]);
  const called = quoted.map(([, , word = '']) => word.toLowerCase()).filter((word) => known.has(word));
  expect([...new Set(called)].toSorted()).toEqual([...new Set(IN_SCRIPTS.map(commandOf))].toSorted());
});

test('each right of Headgate’s own commands is one that the source sends', () => {
  const sent = ['src', 'workers']
    .flatMap((folder) =>
      readdirSync(new URL(folder, ROOT), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
    )
    .filter((file) => file.endsWith('.ts') && !file.endsWith('rights.ts'))
    .map((file) => readFileSync(new URL(file, ROOT), 'utf8'))
    .join('\n');
  // The client's own: the name of a connection, and what goes around a transaction.
  const clients = new Set(['client|setname', 'exec']);
  for (const command of new Set(DIRECT.map(commandOf))) {
    if (clients.has(command)) continue;
    const [name = '', sub] = command.split('|');
    const call =
      sub === undefined ? `\\.${name}(Buffer)?\\(|new Command\\('${name}'` : `\\.${name}\\(\\s*'${sub.toUpperCase()}'`;
    expect(sent, command).toMatch(new RegExp(call));
  }
});

test('docs/redis.md has the rules word for word', async () => {
  const page = readFileSync(PAGE, 'utf8');
  const rules = aclRules('shop:');
  const commands = rules.filter((rule) => rule.startsWith('+'));
  const lines = [
    'user headgate on #SHA256-OF-THE-PASSWORD',
    ...rules.filter((rule) => !rule.startsWith('+')),
    ...inLines(commands),
  ];
  const filled = page.replace(
    /(<!-- acl -->\n)[\s\S]*?(<!-- end -->)/,
    (_, start, end) => `${start}\n\`\`\`\n${lines.join('\n  ')}\n\`\`\`\n\n${end}`,
  );
  expect(filled).toContain('<!-- acl -->');
  await expect(filled).toMatchFileSnapshot('../../docs/redis.md');
});

function inLines(words: readonly string[]): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < 100) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
