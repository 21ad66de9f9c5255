import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findOnPath } from '../../src/redis/embedded/find-on-path.js';
import { runCommand } from '../../src/redis/embedded/run-command.js';
import { APT_TOOLS, pathWith, REAL_PATH } from '../redis/embedded/chosen-path.js';
import { debianProgram, fakeTimeLibrary } from './debian-program.js';

const hasApt = (await findOnPath('apt-get', REAL_PATH)) !== undefined;

test('a program on PATH is the one that is run', async () => {
  const path = await pathWith([], { ab: 'exit 0' });
  expect(await debianProgram('ab', { path })).toBe(join(path, 'ab'));
});

test('a program that is neither on PATH nor to be fetched is named, with its package', async () => {
  const path = await pathWith([]);
  const cacheDir = await mkdtemp(join(tmpdir(), 'hg-debian-'));
  await expect(debianProgram('ab', { path, cacheDir })).rejects.toThrow(
    "The tests need ab of Debian's package apache2-utils: apt-get and dpkg are not on PATH",
  );
  await rm(cacheDir, { recursive: true });
});

describe.runIf(hasApt)('on a machine where nothing is installed', { timeout: 180_000 }, () => {
  let cacheDir = '';
  let path = '';
  beforeAll(async () => {
    cacheDir = await mkdtemp(join(tmpdir(), 'hg-debian-'));
    // Tells that no library is there either.
    path = await pathWith(
      APT_TOOLS.filter((tool) => tool !== 'dpkg-query'),
      { 'dpkg-query': '' },
    );
  });
  afterAll(() => rm(cacheDir, { recursive: true, force: true }));

  test.each(['nginx', 'ab'] as const)('%s is fetched and runs', async (name) => {
    const file = await debianProgram(name, { path, cacheDir });
    expect(file).toBe(join(cacheDir, `${name}-${process.arch}`, 'bin', name));
    const { status } = await runCommand(file, ['-V'], { timeoutMs: 10_000 });
    expect(status).toBe(0);
  });

  test('what was fetched is there without a download afterwards', async () => {
    const file = await debianProgram('ab', { path: await pathWith([]), cacheDir });
    expect(file).toContain(cacheDir);
  });

  test('the other wall clock is fetched and works', async () => {
    expect(await fakeTimeLibrary({ path, cacheDir })).toMatch(/libfaketimeMT\.so\.1$/);
  });
});
