import { readdirSync, readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { ask } from '../../test/http/support/ask.js';
import { quantile } from '../statistics.js';
import { ADMIN_KEY, headersOf, serveApi } from './served-api.js';

/** What those who wait cost one API process. */
export interface Waiters {
  readonly waiters: number;
  readonly idleBytes: number;
  /** With all of them, their connections included. */
  readonly waitingBytes: number;
  /** From the cancellation of a job to the answer of each who waited for it. */
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** A tenant may have so many in one process. */
const PER_TENANT = 1000;
const LOOK_EVERY_MS = 100;
/** Of those who knock; 511 may stand before the door. */
const AT_ONCE = 250;

/** So many `GET /v1/jobs/:id` with `Prefer: wait=60` at once, a thousand for a job of each tenant, which is then cancelled. */
export async function benchWaiters(socketPath: string, { waiters }: { waiters: number }): Promise<Waiters> {
  const served = await serveApi(socketPath, 'unlimited');
  const agent = new Agent({ keepAlive: true, maxSockets: waiters });
  const { url, pid } = served.api;
  const headers = { authorization: `Bearer ${ADMIN_KEY}` };
  const asked = (method: string, path: string) => ask(url, { method, url: path, headers });
  try {
    const tenants = Array.from({ length: Math.ceil(waiters / PER_TENANT) }, (_, i) => `tenant-${i}`);
    const jobs = await Promise.all(
      tenants.map(async (tenant) => {
        const body = JSON.stringify({ type: 'bench', tenant, data: {}, delayMs: 3_600_000 });
        const posted = await ask(url, { method: 'POST', url: '/v1/jobs', headers: headersOf(ADMIN_KEY), body });
        return `/v1/jobs/${JSON.parse(posted.body).id}?tenant=${tenant}`;
      }),
    );
    const idleBytes = residentBytes(pid);
    const answered = async (i: number): Promise<number> => {
      const request = { method: 'GET', url: jobs[i % jobs.length] ?? '', headers: { ...headers, prefer: 'wait=60' } };
      const { status } = await ask(url, request, { agent });
      if (status !== 200) throw new Error(`who waited was answered ${status}`);
      return performance.now();
    };
    const answers: Promise<number>[] = [];
    // More at once than a port has room for would be turned away by the kernel.
    for (let from = 0; from < waiters; from += AT_ONCE) {
      for (let i = from; i < Math.min(from + AT_ONCE, waiters); i += 1) {
        const answer = answered(i);
        answer.catch(() => undefined); // It is waited for below.
        answers.push(answer);
      }
      while (socketsOf(pid) < answers.length) await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
    // Answered behind all that came before.
    await asked('GET', '/healthz');
    const waitingBytes = residentBytes(pid);
    const cancelledAt = performance.now();
    await Promise.all(jobs.map((job) => asked('DELETE', job)));
    const timesMs = (await Promise.all(answers)).map((at) => at - cancelledAt);
    return { waiters, idleBytes, waitingBytes, p50Ms: quantile(timesMs, 0.5), p99Ms: quantile(timesMs, 0.99) };
  } finally {
    agent.destroy();
    await served.stop();
  }
}

function residentBytes(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1024;
}

function socketsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}
