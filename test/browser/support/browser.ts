import { mkdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Page, type Request } from 'playwright-core';
import { expect } from 'vitest';
import { chromiumProgram } from '../../support/chromium-program.js';

const SHOTS = fileURLToPath(new URL('../output', import.meta.url));
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** A real browser without a window. */
export async function startBrowser(): Promise<Browser> {
  const executablePath = await chromiumProgram();
  // The sandbox needs what containers do not give; the only pages that are opened are ours.
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });
}

/** A page of somebody new, and all that the browser complained of. */
export interface Watched {
  readonly page: Page;
  /** Errors and warnings of the console, and exceptions that nobody caught. */
  readonly complaints: string[];
  /** Origins of whatever it asked for. */
  readonly origins: ReadonlySet<string>;
  /** Streams of events that are open now. */
  readonly streams: ReadonlySet<Request>;
  close(): Promise<void>;
}

/** Opens a page that remembers nothing. */
export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<Watched> {
  const context = await browser.newContext({ viewport: { width: 1360, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const complaints: string[] = [];
  const origins = new Set<string>();
  const streams = new Set<Request>();
  page.on('request', (request) => {
    const { origin, pathname } = new URL(request.url());
    origins.add(origin);
    if (pathname === '/dashboard/stream') streams.add(request);
  });
  page.on('requestfinished', (request) => streams.delete(request));
  page.on('requestfailed', (request) => streams.delete(request));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.stack ?? error.message));
  page.on('dialog', (dialog) => {
    complaints.push(`a dialog said ${dialog.message()}`);
    void dialog.dismiss();
  });
  return { page, complaints, origins, streams, close: () => context.close() };
}

/** Keeps a picture of what is on the screen. */
export async function keepShot(page: Page, name: string): Promise<void> {
  await mkdir(SHOTS, { recursive: true });
  await page.screenshot({ path: `${SHOTS}/${name}.png` });
}

/** What axe finds that shuts somebody out: a line for each rule that is broken, at its worst two levels. Large text, too, has a contrast of 4.5. */
export async function seriousFaults(page: Page): Promise<string[]> {
  // The page allows no script of others; the browser's own tools are not asked.
  const source = await page.context().newCDPSession(page);
  await source.send('Runtime.evaluate', { expression: await readFile(AXE, 'utf8') });
  const { result } = await source.send('Runtime.evaluate', {
    expression: `axe.run({ checks: { 'color-contrast': { options: { contrastRatio: { large: { expected: 4.5 } } } } } }).then(({ violations }) => JSON.stringify(violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => id + ': ' + nodes.map(({ html, failureSummary }) => html.slice(0, 120) + ' ' + failureSummary).join(' | '))))`,
    awaitPromise: true,
    returnByValue: true,
  });
  await source.detach();
  const faults: unknown = JSON.parse(String(result.value));
  if (!Array.isArray(faults)) throw new Error('axe gave no answer');
  return faults.map(String);
}

/** The text of the page, until it has this in it. */
export async function untilSays(page: Page, selector: string, text: string | RegExp): Promise<void> {
  await expect.poll(async () => page.locator(selector).first().textContent()).toMatch(text);
}
