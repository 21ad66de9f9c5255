/**
 * Real work through the whole system: three tenants send pages of text at three times what two workers can read.
 *
 * Exits 0 when each tenant was served within 10 % of the lesser of its rate and its fair share while all were
 * backlogged, and the recognised text is right; 1 when something is off, and 2 when it was called wrongly.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { readEntitlements } from './contracts.js';
import { type Flags, readFlags, USAGE } from './flags.js';
import { DEMO_FOLDER } from './pages.js';
import { runDemo } from './run-demo.js';
import { RunningSystem } from './running-system.js';
import { summaryLines } from './summary.js';
import { TerminalDisplay } from './terminal-display.js';

const SLOTS = 2;

async function main(flags: Flags): Promise<number> {
  const display = new TerminalDisplay(process.stdout);
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => interrupted.abort(new Error(`stopped by ${signal}`)));
  }
  const configFile = join(DEMO_FOLDER, 'headgate.yaml');
  const entitlements = await readEntitlements(configFile);
  const keys = new Map(entitlements.map(({ tenant }) => [tenant, randomBytes(24).toString('base64url')]));
  const environment = Object.fromEntries(
    [...keys].map(([tenant, key]) => [`HEADGATE_DEMO_${tenant.toUpperCase()}_KEY`, key]),
  );
  const dataFolder = await mkdtemp(join(tmpdir(), 'headgate-demo-'));
  try {
    display.say('Starting Redis, the API and the workers ...');
    const projectFolder = resolve(DEMO_FOLDER, '..', '..');
    const options = { projectFolder, configFile, dataFolder, slots: SLOTS, environment };
    const system = await RunningSystem.start(options, interrupted.signal);
    try {
      const plan = { url: system.url, slots: SLOTS, seconds: flags.seconds, entitlements, keys };
      const summary = await runDemo(plan, display, interrupted.signal);
      display.say('', ...summaryLines(summary));
      if (flags.jsonFile !== undefined) await writeFile(flags.jsonFile, `${JSON.stringify(summary, null, 2)}\n`);
      return summary.passed ? 0 : 1;
    } catch (error) {
      if (!interrupted.signal.aborted) {
        const ended = system.isRunning ? '' : ' before it ended by itself';
        display.say('', `The last that the system wrote${ended}:`, system.log);
      }
      throw error;
    } finally {
      await system.stop();
    }
  } finally {
    await rm(dataFolder, { recursive: true, force: true });
  }
}

const flags = readFlags(process.argv.slice(2));
if ('fault' in flags) {
  process.stderr.write(`${flags.fault}\n${USAGE}\n`);
  process.exitCode = 2;
} else {
  process.exitCode = await main(flags).catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    return 1;
  });
}
