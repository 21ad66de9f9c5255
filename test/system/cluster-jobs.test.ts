import { afterAll, vi } from 'vitest';

// All that a suite of jobs says of one server is to hold on a cluster, too.
vi.stubEnv('TEST_CLUSTER', '1');
afterAll(() => void vi.unstubAllEnvs());
await import('./jobs-over-http.test.js');
