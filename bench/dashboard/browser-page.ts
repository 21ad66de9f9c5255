import { readdirSync, readFileSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { chromiumProgram } from '../../test/support/chromium-program.js';
import { cpuSeconds } from './cpu.js';

/** The page as somebody has it open, in a browser of its own. */
export interface BrowserPage {
  /** Seconds of CPU so far: of the page itself, and of whatever else the browser does for it, painting above all. */
  cpu(): { readonly page: number; readonly rest: number };
  close(): Promise<void>;
}

/** Opens the overview in a browser without a window and without a graphics card, signed in with the key of an admin. */
export async function openInBrowser(url: string, key: string): Promise<BrowserPage> {
  const server = await chromium.launchServer({
    executablePath: await chromiumProgram(),
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
  const browser = await chromium.connect(server.wsEndpoint());
  const page = await (await browser.newContext({ viewport: { width: 1360, height: 900 } })).newPage();
  await page.goto(url);
  await page.getByLabel(/API key/).fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('.bucket').first().waitFor();
  const root = server.process().pid ?? 0;
  return {
    cpu() {
      const all = descendants(root);
      const pages = all.filter((pid) => commandOf(pid).includes('--type=renderer'));
      const seconds = (pids: readonly number[]) => pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0);
      return { page: seconds(pages), rest: seconds(all.filter((pid) => !pages.includes(pid))) };
    },
    async close() {
      await browser.close();
      await server.close();
    },
  };
}

/** A process and all that it started, and these. */
function descendants(root: number): number[] {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => [Number(name), parentOf(Number(name))] as const);
  const found = [root];
  for (const pid of found) found.push(...parents.flatMap(([child, parent]) => (parent === pid ? [child] : [])));
  return found;
}

function parentOf(pid: number): number {
  return Number(textOf(pid, 'stat').split(') ')[1]?.split(' ')[1]);
}

function commandOf(pid: number): string {
  return textOf(pid, 'cmdline');
}

/** Empty for a process that has ended. */
function textOf(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
