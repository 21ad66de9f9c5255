import type { OwnPool } from '../own-pool.js';

/** Starts the pool, and resolves when it has completed so many jobs. */
export async function untilCompleted({ pool }: Pick<OwnPool, 'pool'>, jobs: number): Promise<void> {
  let left = jobs;
  const done = new Promise<void>((resolve) => {
    pool.on('completed', () => {
      left -= 1;
      if (left === 0) resolve();
    });
  });
  await pool.start();
  await done;
}
