import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { chromiumProgram } from '../../test/support/chromium-program.js';
import { HeadgateFolder } from '../../test/support/headgate-process.js';
import { startRedis } from '../../test/support/redis-server.js';

/**
 * Takes the pictures of docs/dashboard.md of a system under load: a type whose workers are too few, one tenant who wants
 * them all, some who are full and many who are not. `[SECONDS]`, 150, of load before the first picture.
 */
const SECONDS = Number(process.argv[2] ?? 150);
const KEY = 'admin-key-of-the-pictures';
const TICK_MS = 250;
/** Of a run of `ocr`: its four workers are through with 16 jobs a second. */
const OCR_MS = 250;
const CHAT_MS = 120;
const DOCS = fileURLToPath(new URL('../../docs/', import.meta.url));

/** What a tenant has waiting at first, and sends from then on. */
interface Load {
  readonly tenant: string;
  readonly type: 'ocr' | 'chat';
  readonly first: number;
  readonly perSecond: number;
}

const FREE =
  'aperture cyberdyne duff ecorp gekko gringotts massive monarch nakatomi oceanic omni osato pied rekall'.split(' ');
const LOADS: readonly Load[] = [
  { tenant: 'globex', type: 'ocr', first: 1000, perSecond: 24 },
  { tenant: 'acme', type: 'ocr', first: 240, perSecond: 2.4 },
  { tenant: 'soylent', type: 'ocr', first: 50, perSecond: 0.6 },
  ...FREE.map((tenant, i): Load => ({ tenant, type: 'ocr', first: 31 + ((i * 5) % 13), perSecond: 0.4 })),
  { tenant: 'initech', type: 'chat', first: 0, perSecond: 2 },
  { tenant: 'hooli', type: 'chat', first: 0, perSecond: 0.8 },
];

const server = await startRedis();
const folder = await HeadgateFolder.create({
  redis: server.socketPath,
  admin: { keys: [KEY] },
  types: {
    ocr: { handler: 'echo', capacity: { rate: '40/s', burst: 4, concurrency: 4 } },
    chat: { handler: 'echo', capacity: { rate: '20/s', burst: 20 } },
  },
  tiers: {
    free: { rate: '24/m', depth: 50 },
    pro: { rate: '2/s', burst: 2, depth: 240 },
    bulk: { rate: 'unlimited', depth: 1000 },
  },
  defaultTier: 'free',
  tenants: { acme: { tier: 'pro' }, globex: { tier: 'bulk' }, initech: { tier: 'pro' }, hooli: { tier: 'pro' } },
});
const browser = await chromium.launch({
  executablePath: await chromiumProgram(),
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
});
try {
  const { url } = await folder.start('start', ['--concurrency', 'ocr=4,chat=4']);
  await send(url, (load) => load.first);
  const ended = new AbortController();
  const loading = goOn(url, ended.signal);
  loading.catch(() => undefined); // It is waited for below.
  await wait(SECONDS * 1000);
  await picture(url, 'overview', '#/type/ocr', { viewport: { width: 1280, height: 860 } });
  await picture(url, 'phone', '#/type/ocr', { viewport: { width: 360, height: 780 } });
  await picture(
    url,
    'tenant',
    '#/tenant/ocr/acme',
    { viewport: { width: 1280, height: 860 }, colorScheme: 'dark' },
    async (page) => {
      // What one tenant did is known from when its page was opened.
      await wait(60_000);
      await page.getByLabel('Another rate').fill('8/s');
      await page.locator('.preview', { hasText: 'would end' }).waitFor();
    },
  );
  ended.abort();
  await loading;
} finally {
  await browser.close();
  await folder.remove();
  await server.stop();
}

/** Sends what `count` says of each load. */
async function send(url: string, count: (load: Load) => number): Promise<void> {
  const jobs = LOADS.flatMap((load) => {
    const { type, tenant } = load;
    return Array.from({ length: count(load) }, () => ({
      type,
      tenant,
      data: { ms: type === 'ocr' ? OCR_MS : CHAT_MS },
    }));
  });
  for (let from = 0; from < jobs.length; from += 1000) {
    const body = JSON.stringify({ jobs: jobs.slice(from, from + 1000) });
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
    const response = await fetch(`${url}/v1/jobs/batch`, { method: 'POST', headers, body });
    if (!response.ok) throw new Error(`a batch was answered ${response.status} ${await response.text()}`);
    await response.arrayBuffer();
  }
}

/** Sends what each is to send a second, until the end. */
async function goOn(url: string, end: AbortSignal): Promise<void> {
  const owed = new Map<Load, number>();
  for (let beforeMs = performance.now(); !end.aborted; ) {
    await wait(TICK_MS);
    const nowMs = performance.now();
    for (const load of LOADS) {
      owed.set(load, ((owed.get(load) ?? 0) % 1) + (load.perSecond * (nowMs - beforeMs)) / 1000);
    }
    beforeMs = nowMs;
    await send(url, (load) => Math.floor(owed.get(load) ?? 0));
  }
}

/** Opens a place as somebody who just signed in, and keeps what is on the screen once it is live. */
async function picture(
  url: string,
  name: string,
  place: string,
  options: BrowserContextOptions,
  prepare: (page: Page) => Promise<void> = async () => undefined,
): Promise<void> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  await page.goto(`${url}/${place}`);
  await page.getByLabel(/API key/).fill(KEY);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('.live', { hasText: /^live$/ }).waitFor();
  await page.locator('main .panel').first().waitFor();
  // Two readings, so that what flows is known to the page.
  await wait(3000);
  await prepare(page);
  await page.screenshot({ path: `${DOCS}dashboard-${name}.png` });
  await context.close();
}
