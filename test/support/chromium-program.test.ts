import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pathWith } from '../redis/embedded/chosen-path.js';
import { chromiumProgram } from './chromium-program.js';

test('the browser on PATH is the one that is run', async () => {
  const path = await pathWith([], { chromium: 'exit 0' });
  expect(await chromiumProgram({ path })).toBe(join(path, 'chromium'));
});

test('where there is none and none can be had, it is said which command installs it', async () => {
  const path = await pathWith([]);
  const cacheDir = await mkdtemp(join(tmpdir(), 'hg-chromium-'));
  await expect(chromiumProgram({ path, cacheDir })).rejects.toThrow(
    /^The browser tests need chromium, .*not on PATH.* Install it with: sudo apt-get install chromium fonts-liberation$/,
  );
  await rm(cacheDir, { recursive: true });
});
