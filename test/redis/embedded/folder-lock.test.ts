import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { EmbeddedRedisError } from '../../../src/redis/embedded/embedded-redis-error.js';
import { findOnPath } from '../../../src/redis/embedded/find-on-path.js';
import { folderLock, LOCK_HELD } from '../../../src/redis/embedded/folder-lock.js';
import { prepareRedisFolder } from '../../../src/redis/embedded/redis-folder.js';
import { runCommand } from '../../../src/redis/embedded/run-command.js';
import { pathWith, REAL_PATH } from './chosen-path.js';
import { useDataFolders } from './data-folders.js';

const folders = useDataFolders();

for (const tool of ['flock', 'perl']) {
  test.runIf(await findOnPath(tool, REAL_PATH))(
    `${tool} gives the lock to one command, as long as that lives`,
    async () => {
      const lock = await folderLock(await prepareRedisFolder(await folders.create()), await pathWith([tool]));
      const sleep = (await findOnPath('sleep', REAL_PATH)) ?? '';
      expect(await lock.isHeld()).toBe(false);

      const [program, ...args] = lock.holding([sleep, '600']);
      const child = spawn(program, args, { stdio: 'ignore' });
      await expect.poll(() => lock.holder()).toBe(child.pid);
      expect(await lock.isHeld()).toBe(true);
      expect(await runCommand(program, args, { timeoutMs: 60_000 })).toMatchObject({ status: LOCK_HELD });
      expect(await lock.holder()).toBe(child.pid);

      child.kill('SIGKILL');
      await once(child, 'exit');
      expect(await lock.isHeld()).toBe(false);
    },
  );
}

test('a machine with neither tool is told what to install', async () => {
  const folder = await prepareRedisFolder(await folders.create());
  await expect(folderLock(folder, await pathWith([]))).rejects.toThrow(EmbeddedRedisError);
  await expect(folderLock(folder, await pathWith([]))).rejects.toThrow(/needs `flock` \(util-linux\) or `perl`/);
});
