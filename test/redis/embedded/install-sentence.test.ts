import { describe, expect, test } from 'vitest';
import { installSentence } from '../../../src/redis/embedded/install-sentence.js';
import { pathWith } from './chosen-path.js';

describe('the sentence about a missing server names the command of the machine', () => {
  for (const { programs, isRoot, expected } of [
    { programs: ['apt-get'], isRoot: true, expected: 'install one with `apt-get install redis-server`' },
    { programs: ['apt-get'], isRoot: false, expected: 'install one with `sudo apt-get install redis-server`' },
    { programs: ['dnf', 'yum'], isRoot: false, expected: 'install one with `sudo dnf install valkey`' },
    { programs: ['yum'], isRoot: true, expected: 'install one with `yum install redis`' },
    { programs: ['apk'], isRoot: true, expected: 'install one with `apk add redis`' },
    { programs: ['pacman'], isRoot: true, expected: 'install one with `pacman -S valkey`' },
    { programs: ['zypper'], isRoot: true, expected: 'install one with `zypper install redis`' },
    { programs: ['brew'], isRoot: false, expected: 'install one with `brew install redis`' },
    { programs: [], isRoot: false, expected: 'install Redis or Valkey' },
  ]) {
    test(`${programs[0] ?? 'no installer'}, ${isRoot ? 'root' : 'not root'}`, async () => {
      const path = await pathWith([], Object.fromEntries(programs.map((program) => [program, ''])));
      expect(await installSentence('No server', path, isRoot)).toBe(
        `No server: ${expected}, or set \`redis:\` to the address of a server that you have.`,
      );
    });
  }
});
