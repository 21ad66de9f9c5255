import { createInterface } from 'node:readline';
import { startEmbeddedRedis } from '../../../src/redis/embedded/embedded-redis.js';

/** A process that holds an embedded Redis: options as JSON in its argument, answers as JSON lines, released by a line of input. */
const rungs: string[] = [];
const say = (answer: Record<string, unknown>) => process.stdout.write(`${JSON.stringify(answer)}\n`);
try {
  const redis = await startEmbeddedRedis({
    ...JSON.parse(process.argv[2] ?? ''),
    log: (rung) => rungs.push(rung),
  });
  say({ outcome: 'started', rungs, rung: redis.rung, pid: redis.pid, socketPath: redis.socketPath });
  for await (const _ of createInterface({ input: process.stdin })) {
    say({ outcome: await redis.release() });
    break;
  }
} catch (error) {
  if (!(error instanceof Error)) throw error;
  say({ outcome: 'refused', rungs, name: error.name, message: error.message });
}
process.stdin.destroy();
