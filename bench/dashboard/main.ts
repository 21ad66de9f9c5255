import { setTimeout as wait } from 'node:timers/promises';
import { HeadgateFolder, type HeadgateProcess } from '../../test/support/headgate-process.js';
import { startRedis } from '../../test/support/redis-server.js';
import { shown, table } from '../markdown.js';
import { median } from '../statistics.js';
import { openInBrowser } from './browser-page.js';
import { cpuSeconds } from './cpu.js';
import { openPage } from './page.js';

/**
 * Measures what one open page of the dashboard costs: CPU of the API process and of Redis beside the same load without a
 * page, and bytes on the stream; CPU of a real browser that has it open; and a scrape of the metrics of both processes.
 * `[TENANTS]`, 2000, of whom each has jobs waiting, and `[SECONDS]`, 30, that are measured.
 */
const TENANTS = Number(process.argv[2] ?? 2000);
const SECONDS = Number(process.argv[3] ?? 30);
const JOBS_PER_SECOND = 500;
const KEY = 'admin-key-of-the-bench';
const BATCH = 1000;
/** Until what fades is what it is. */
const SETTLE_SECONDS = 15;

interface Cost {
  readonly api: number;
  readonly redis: number;
}

const server = await startRedis();
const folder = await HeadgateFolder.create({
  redis: server.socketPath,
  admin: { keys: [KEY] },
  types: { bench: { handler: 'echo' } },
  tiers: { even: { rate: `${(JOBS_PER_SECOND * 3600) / TENANTS}/h`, burst: 1, depth: 10_000 } },
  defaultTier: 'even',
});
try {
  const api = await folder.start('serve');
  await fill(api, Math.ceil(((3 * SECONDS + 3 * SETTLE_SECONDS + 30) * JOBS_PER_SECOND) / TENANTS));
  const worker = await folder.start('work', ['--concurrency', 'bench=50', '--health-listen', '0']);
  await wait(SETTLE_SECONDS * 1000);
  const alone = await measure(api);
  const page = await openPage(api.url, KEY);
  await wait(SETTLE_SECONDS * 1000);
  const before = page.bytes;
  const watched = await measure(api);
  const bytes = page.bytes - before;
  page.leave();
  const browser = await openInBrowser(api.url, KEY);
  await wait(SETTLE_SECONDS * 1000);
  const [cpuBefore, atMs] = [browser.cpu(), performance.now()];
  await wait(SECONDS * 1000);
  const [cpuAfter, seconds] = [browser.cpu(), (performance.now() - atMs) / 1000];
  await browser.close();
  const ofCore = (part: 'page' | 'rest') => `${shown((100 * (cpuAfter[part] - cpuBefore[part])) / seconds)} %`;
  const ofWorker = `http://127.0.0.1:${String(worker.said('worker is ready')[0]?.healthPort)}/metrics`;
  const scrapes = [await scraped(`${api.url}/metrics`), await scraped(ofWorker)];
  const percent = (read: (cost: Cost) => number): string =>
    `${shown(100 * (read(watched) - read(alone)))} % (${shown(100 * read(alone))} % without it)`;
  process.stdout.write(
    `${table(
      [`one page, ${TENANTS} tenants backlogged, ${JOBS_PER_SECOND} jobs/s`, 'value'],
      ['of a core, in the API process', percent((cost) => cost.api)],
      ['of a core, in Redis', percent((cost) => cost.redis)],
      ['bytes/s on the stream', shown(bytes / SECONDS)],
      ['of a core, in the browser for the page', ofCore('page')],
      ['of a core, in the browser for painting and all else', ofCore('rest')],
      ...['API', 'worker'].map((of, i) => [
        `a scrape of the metrics of the ${of}`,
        `${shown(scrapes[i]?.ms ?? Number.NaN)} ms, ${shown(scrapes[i]?.bytes ?? Number.NaN)} bytes`,
      ]),
    )}\n`,
  );
} finally {
  await folder.remove();
  await server.stop();
}

/** Shares of a core. */
async function measure(api: HeadgateProcess): Promise<Cost> {
  const read = (): readonly number[] => [cpuSeconds(api.pid), cpuSeconds(server.pid), performance.now() / 1000];
  const [api0 = 0, redis0 = 0, at0 = 0] = read();
  await wait(SECONDS * 1000);
  const [api1 = 0, redis1 = 0, at1 = 0] = read();
  return { api: (api1 - api0) / (at1 - at0), redis: (redis1 - redis0) / (at1 - at0) };
}

/** The middle of five, so far apart that each reads Redis anew. */
async function scraped(url: string): Promise<{ readonly ms: number; readonly bytes: number }> {
  const taken: { ms: number; bytes: number }[] = [];
  for (let i = 0; i < 5; i += 1) {
    await wait(2500);
    const at = performance.now();
    const response = await fetch(url, { headers: { authorization: `Bearer ${KEY}` } });
    const bytes = (await response.arrayBuffer()).byteLength;
    taken.push({ ms: performance.now() - at, bytes });
  }
  return { ms: median(taken.map(({ ms }) => ms)), bytes: median(taken.map(({ bytes }) => bytes)) };
}

/** Gives every tenant so many jobs. */
async function fill({ url }: HeadgateProcess, each: number): Promise<void> {
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  for (let first = 0; first < TENANTS * each; first += BATCH) {
    const jobs = Array.from({ length: Math.min(BATCH, TENANTS * each - first) }, (_, i) => ({
      type: 'bench',
      tenant: `tenant-${(first + i) % TENANTS}`,
      data: { n: 1 },
    }));
    const response = await fetch(`${url}/v1/jobs/batch`, { method: 'POST', headers, body: JSON.stringify({ jobs }) });
    if (!response.ok) throw new Error(`a batch was answered ${response.status} ${await response.text()}`);
    await response.arrayBuffer();
  }
}
