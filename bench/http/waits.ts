import { Agent } from 'node:http';
import { ask } from '../../test/http/support/ask.js';
import { quantile } from '../statistics.js';
import { headersOf, serveApi, TENANT_KEY } from './served-api.js';

/** From the end of a job, as Redis has it, to its answer at the caller, on one machine with one clock. */
export interface Waits {
  readonly calls: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const SLOTS = 100;

/**
 * So many `POST /v1/jobs` with `Prefer: wait=60` at once, each on a connection of its own, of jobs that leave at `rate` to a
 * worker process whose handler does nothing. Callers, API and worker are a process each.
 */
export async function benchWaits(socketPath: string, { calls, rate }: { calls: number; rate: string }): Promise<Waits> {
  const served = await serveApi(socketPath, rate);
  const agent = new Agent({ keepAlive: true, maxSockets: calls });
  try {
    await served.startWorker(SLOTS);
    const { url } = served.api;
    const headers = { ...headersOf(TENANT_KEY), prefer: 'wait=60' };
    const body = JSON.stringify({ type: 'bench', data: { n: 1 } });
    const call = async (): Promise<number> => {
      const answer = await ask(url, { method: 'POST', url: '/v1/jobs', headers, body }, { agent });
      const answeredAt = performance.timeOrigin + performance.now();
      const { state, endedAt } = JSON.parse(answer.body);
      if (state !== 'completed') throw new Error(`a call was answered ${answer.status} ${answer.body}`);
      return answeredAt - Date.parse(endedAt);
    };
    const round = () => Promise.all(Array.from({ length: calls }, call));
    // The first one opens the connections, and gets all three processes warm.
    await round();
    const lateMs = await round();
    return { calls, p50Ms: quantile(lateMs, 0.5), p99Ms: quantile(lateMs, 0.99) };
  } finally {
    agent.destroy();
    await served.stop();
  }
}
