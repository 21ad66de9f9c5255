import { defineConfig } from 'vitest/config';

/** Against what hangs: how long a test takes on a busy machine says nothing. */
const patient = { testTimeout: 400_000, hookTimeout: 400_000, expect: { poll: { timeout: 60_000 } } };

export default defineConfig({
  test: {
    pool: 'forks',
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/system/**', 'test/browser/**'],
          ...patient,
          globalSetup: ['test/support/redis-setup.ts'],
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        // Whole processes, whose promises are about time: nothing else may run beside them.
        test: {
          name: 'system',
          include: ['test/system/**/*.test.ts'],
          ...patient,
          globalSetup: ['test/support/redis-setup.ts'],
          maxWorkers: 1,
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
      {
        // The dashboard in a real browser, over whole processes.
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          ...patient,
          globalSetup: ['test/support/redis-setup.ts'],
          maxWorkers: 1,
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
