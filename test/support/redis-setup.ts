import { spawnSync } from 'node:child_process';

/** vitest's global set-up: the tests run against real Redis servers, so there has to be one on PATH. */
export default function setup(): void {
  if (spawnSync('redis-server', ['--version']).status !== 0) {
    throw new Error('The tests need redis-server on PATH. On Debian and Ubuntu: apt-get install redis-server');
  }
}
