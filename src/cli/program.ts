import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { HeadgateError } from '../client/index.js';
import { type ListenAddress, listenAddress } from '../config/listen-address.js';
import type { WorkerOrder } from '../config/worker-order.js';
import { checkCommands } from './commands/checks.js';
import { jobCommands } from './commands/jobs.js';
import { migrateCommand } from './commands/migrate.js';
import { quoteCommand } from './commands/quote.js';
import { tenantCommands } from './commands/tenants.js';
import { refusalText } from './remote.js';
import type { RunOptions } from './run-api.js';

interface CommonFlags {
  readonly config?: string;
  readonly data?: string;
}

interface ServeFlags extends CommonFlags {
  readonly listen?: string;
  readonly download: boolean;
  readonly allowEviction?: true;
  readonly json?: true;
}

interface WorkFlags extends CommonFlags {
  readonly types?: readonly string[];
  readonly concurrency?: Readonly<Record<string, number>>;
  readonly shutdownGrace?: string;
  readonly download: boolean;
  readonly healthListen?: ListenAddress;
  readonly allowEviction?: true;
}

/** Reads the command line and does what it says. Resolves with the exit code: 0 done, 1 failed, 2 wrong input. */
export async function runProgram(argv: readonly string[], version: string): Promise<number> {
  let code = 0;
  const program = describeProgram(version, (outcome) => {
    code = outcome;
  });
  try {
    await program.parseAsync(argv);
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (error instanceof HeadgateError) {
      process.stderr.write(`${refusalText(error, argv.includes('--json'))}\n`);
      return 1;
    }
    process.stderr.write(`headgate: ${error instanceof Error ? error.message : String(error)}\n`);
    return isWrongInput(error) ? 2 : 1;
  }
}

/** Every command and option. `setCode` is told the exit code of what ran. */
export function describeProgram(version: string, setCode: (code: number) => void): Command {
  const program = new Command('headgate')
    .description("Multi-tenant traffic shaper: every tenant's jobs at its own steady rate.")
    .version(version)
    .exitOverride()
    .showHelpAfterError('(headgate --help shows all commands)');

  command(program, 'start', 'run the API and workers together')
    .addOption(listen())
    .addOption(concurrency())
    .addOption(types())
    .addOption(shutdownGrace())
    .addOption(noDownload())
    .addOption(allowEviction())
    .addOption(healthListen())
    .addOption(json())
    .action(async (flags: ServeFlags & WorkFlags) => {
      // Loaded when asked for: what a command does not need would cost it a second.
      const { runApi } = await import('./run-api.js');
      setCode(await runApi({ ...runOptions(flags), workers: { ...workersOf(flags), ...healthOf(flags) } }));
    });
  command(program, 'serve', 'run the API alone')
    .addOption(listen())
    .addOption(noDownload())
    .addOption(allowEviction())
    .addOption(json())
    .action(async (flags: ServeFlags) => {
      const { runApi } = await import('./run-api.js');
      setCode(await runApi(runOptions(flags)));
    });
  command(program, 'work', 'run workers alone')
    .addOption(concurrency())
    .addOption(types())
    .addOption(shutdownGrace())
    .addOption(noDownload())
    .addOption(allowEviction())
    .addOption(healthListen())
    .addOption(json())
    .action(async (flags: WorkFlags & { json?: true }) => {
      const order = { load: loadOf(flags), allowDownload: flags.download, ...workersOf(flags), ...healthOf(flags) };
      setCode(await work(order, flags.json === true));
    });
  command(program, 'stop', 'end the embedded Redis of a data folder; the data stays')
    .option('--json', 'print one JSON line')
    .action(async (flags: CommonFlags & { json?: true }) => {
      const { stopRedis } = await import('./stop-redis.js');
      const { outcome, dataDir } = await stopRedis(loadOf(flags));
      const text = `${outcome === 'stopped' ? 'Redis stopped' : 'Redis was not running'} (${dataDir})`;
      process.stdout.write(`${flags.json === true ? JSON.stringify({ outcome, dataDir }) : text}\n`);
    });
  migrateCommand((name, description) => command(program, name, description), loadOf, setCode);
  jobCommands(program, setCode);
  quoteCommand(program);
  tenantCommands(program);
  checkCommands(command, program, loadOf, setCode);
  return program;
}

function command(program: Command, name: string, description: string): Command {
  return program
    .command(name)
    .description(description)
    .exitOverride()
    .addOption(new Option('--config <file>', 'configuration file (default: ./headgate.yaml, else the packaged one)'))
    .addOption(new Option('--data <dir>', 'folder for the embedded Redis and the keys (default: .headgate)'));
}

const listen = (): Option => new Option('--listen <host:port>', 'where the API listens (default: 127.0.0.1:8080)');
const noDownload = (): Option => new Option('--no-download', 'never fetch a Redis server from the distribution');
const allowEviction = (): Option =>
  new Option('--allow-eviction', 'run on a Redis whose maxmemory-policy may throw away jobs');
const json = (): Option => new Option('--json', 'print one JSON line when ready instead of the greeting');
const types = (): Option =>
  new Option('--types <names>', 'types to serve, comma-separated (default: all with a handler)').argParser((text) =>
    text.split(',').map((name) => name.trim()),
  );
const shutdownGrace = (): Option =>
  new Option('--shutdown-grace <duration>', 'how long a stop waits for what runs, as in 30s (default: shutdownGrace)');
// Off unless asked for: several workers on one machine would meet at one port.
const healthListen = (): Option =>
  new Option(
    '--health-listen <host:port>',
    'workers answer /healthz, /readyz and /metrics there; a port alone is on 127.0.0.1',
  ).argParser(parseHealthListen);
const concurrency = (): Option =>
  new Option(
    '--concurrency <type=slots>',
    'slots by type, as in ocr=2,chat=8 (default: 10 each, or the capacity)',
  ).argParser(parseConcurrency);

function parseHealthListen(text: string): ListenAddress {
  const decoded = listenAddress(/^[0-9]+$/.test(text) ? `127.0.0.1:${text}` : text);
  if ('fault' in decoded) throw new InvalidArgumentError(decoded.fault);
  return decoded.value;
}

function parseConcurrency(text: string): Record<string, number> {
  return Object.fromEntries(
    text.split(',').map((part) => {
      const [, type, slots] = /^\s*([a-z][a-z0-9_-]*)=([0-9]{1,5})\s*$/.exec(part) ?? [];
      const count = Number(slots);
      if (type === undefined || count < 1) {
        throw new InvalidArgumentError(
          `expected type=slots such as ocr=2,chat=8, with slots from 1 to 99999; got "${part}"`,
        );
      }
      return [type, count];
    }),
  );
}

function loadOf(
  flags: CommonFlags & { listen?: string; shutdownGrace?: string; allowEviction?: true },
): WorkerOrder['load'] {
  const { config, data, listen: at, shutdownGrace: grace, allowEviction: mayEvict } = flags;
  const overrides = {
    ...(at !== undefined && { listen: at }),
    ...(data !== undefined && { dataDir: data }),
    ...(grace !== undefined && { shutdownGrace: grace }),
    ...(mayEvict === true && { allowEviction: true }),
  };
  return { overrides, ...(config !== undefined && { file: config }) };
}

function runOptions(flags: ServeFlags): RunOptions {
  return { load: loadOf(flags), allowDownload: flags.download, json: flags.json === true };
}

function workersOf({ types: names, concurrency: slots = {} }: WorkFlags): Pick<WorkerOrder, 'types' | 'concurrency'> {
  return { concurrency: slots, ...(names !== undefined && { types: names }) };
}

function healthOf({ healthListen: at }: WorkFlags): Pick<WorkerOrder, 'healthListen'> {
  return at === undefined ? {} : { healthListen: at };
}

async function work(order: WorkerOrder, isJson: boolean): Promise<number> {
  const { startWorkerProcess } = await import('./worker-process.js');
  const worker = startWorkerProcess(order);
  const announce = (): void => void process.stdout.write(`${JSON.stringify({ ready: true, pid: process.pid })}\n`);
  // One that ends before it is ready says why itself.
  if (isJson) void worker.ready.then(announce, () => undefined);
  process.on('SIGTERM', worker.stop);
  process.on('SIGINT', worker.stop);
  return (await worker.ended) ?? 1;
}

const WRONG_INPUT = new Set([
  'ConfigError',
  'UsageError',
  'NoRedisServer',
  'EmbeddedRedisError',
  'EvictingRedis',
  'UnusableRedis',
  'OtherData',
]);

function isWrongInput(error: unknown): boolean {
  return error instanceof Error && WRONG_INPUT.has(error.name);
}
