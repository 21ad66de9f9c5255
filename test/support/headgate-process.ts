import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { stopEmbeddedRedis } from '../../src/redis/embedded/embedded-redis.js';
import { endsWithUs } from './ends-with-us.js';
import { redisOfSuite } from './shared-cluster.js';

const PROGRAM = fileURLToPath(new URL('../../bin/headgate.js', import.meta.url));
/** A machine with other work takes seconds to boot one; on a machine without Redis it is fetched before. */
const READY_WITHIN_MS = 120_000;
/** What is shown of the log when something goes wrong. */
const SHOWN_LINES = 40;

/** `TEST_SHARDS=3 npx vitest run --project system …` runs suites whose types have no capacity over so many shards. */
const SHARDS = process.env.TEST_SHARDS === undefined ? {} : { shards: Number(process.env.TEST_SHARDS) };

/** How a process ended. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** One command of `headgate` as a real process, its worker process included. */
export class HeadgateProcess {
  /** Everything that it wrote so far, line by line, standard output and error alike. */
  readonly lines: string[] = [];
  readonly ended: Promise<Ended>;
  readonly #child: ChildProcess;
  readonly #isWorker: boolean;
  readonly #watchers = new Set<() => void>();

  constructor(child: ChildProcess, isWorker: boolean) {
    this.#child = child;
    this.#isWorker = isWorker;
    for (const stream of [child.stdout, child.stderr]) {
      if (stream !== null) createInterface({ input: stream }).on('line', (line) => this.#hear(line));
    }
    this.ended = once(child, 'close').then(([code, signal]) => {
      for (const watcher of this.#watchers) watcher();
      return { code, signal };
    });
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error('the process has no pid');
    return this.#child.pid;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Pids of its worker process, none for an API alone. */
  get workerPids(): number[] {
    // The embedded Redis is its child, too, and is to outlive it.
    return childrenOf(this.pid).filter((pid) => commandOf(pid).includes('workers/main'));
  }

  /** The fields of the line that says it is ready; empty for a worker, whose line is one of its log. */
  get ready(): Readonly<Record<string, unknown>> {
    return this.lines.map(parsed).find((fields) => fields.ready === true) ?? {};
  }

  get url(): string {
    return String(this.ready.url);
  }

  get adminKey(): string {
    return String(this.ready.adminKey);
  }

  get demoKey(): string {
    return String(this.ready.demoKey);
  }

  /** Log lines with this message, parsed. */
  said(message: string): Readonly<Record<string, unknown>>[] {
    return this.lines.map(parsed).filter(({ msg }) => msg === message);
  }

  /** Resolves once `condition` holds of what it wrote; rejects with its log when it ends before, or after `withinMs`. */
  async until(condition: () => boolean, what: string, withinMs = READY_WITHIN_MS): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const give = (why: string) => reject(new Error(`${why} before ${what}\n${this.tail()}`));
      const timer = setTimeout(() => settle(() => give(`${withinMs} ms passed`)), withinMs);
      const settle = (act: () => void) => {
        clearTimeout(timer);
        this.#watchers.delete(look);
        act();
      };
      const look = () => {
        if (condition()) settle(resolve);
        else if (!this.isRunning) settle(() => give('it ended'));
      };
      this.#watchers.add(look);
      look();
    });
  }

  /** Until it says that it is ready: the API on standard output, a worker alone in its log. */
  async untilReady(): Promise<void> {
    const isReady = () => this.ready.ready === true || (this.#isWorker && this.said('worker is ready').length > 0);
    await this.until(isReady, 'it was ready');
  }

  /** Sends a signal to the command, as an operator or a supervisor does. */
  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** SIGTERM, and how it ended. */
  async stop(): Promise<Ended> {
    this.signal('SIGTERM');
    return this.ended;
  }

  /** Ends it and its worker process as `kill -9` does: nobody gets to say goodbye. */
  async kill(): Promise<void> {
    if (this.isRunning) {
      for (const pid of [...this.workerPids, this.pid]) killNow(pid);
    }
    await this.ended;
  }

  /** The end of what it wrote. */
  tail(): string {
    return this.lines.slice(-SHOWN_LINES).join('\n');
  }

  #hear(line: string): void {
    this.lines.push(line);
    for (const watcher of this.#watchers) watcher();
  }
}

/** What a command that ends by itself came to. */
export interface Outcome extends Ended {
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * A folder with a configuration and a data folder, and all processes started over it. {@link remove} it in `afterAll`:
 * it leaves no process behind, nor the embedded Redis, whatever happened to them.
 */
export class HeadgateFolder {
  readonly dir: string;
  readonly configFile: string;
  readonly dataDir: string;
  /** The program that is started: that of this project, unless a test has another version of it. */
  program = PROGRAM;
  readonly #processes: HeadgateProcess[] = [];
  readonly #redis: { readonly redis?: object };

  private constructor(dir: string, redis: { readonly redis?: object }) {
    this.dir = dir;
    this.#redis = redis;
    this.configFile = join(dir, 'headgate.yaml');
    this.dataDir = join(dir, 'data');
  }

  /** @param config the configuration, as text or as what its YAML says */
  static async create(config: string | object): Promise<HeadgateFolder> {
    const folder = new HeadgateFolder(await mkdtemp(join(tmpdir(), 'hg-system-')), await redisOfSuite());
    await folder.configure(config);
    return folder;
  }

  /** Writes another configuration. What runs does not read it. */
  async configure(config: string | object): Promise<void> {
    await mkdir(this.dir, { recursive: true });
    // JSON is YAML.
    const text =
      typeof config === 'string' ? config : JSON.stringify({ ...this.#redis, ...SHARDS, ...config }, null, 2);
    await writeFile(this.configFile, text);
  }

  /** Starts a command over this folder and does not wait for it. The API listens on a free port unless told otherwise. */
  spawn(verb: 'start' | 'serve' | 'work', flags: readonly string[] = []): HeadgateProcess {
    const port = verb === 'work' || flags.includes('--listen') ? [] : ['--listen', '127.0.0.1:0'];
    const json = verb === 'work' || flags.includes('--no-json') ? [] : ['--json'];
    const own = flags.filter((flag) => flag !== '--no-json');
    const started = new HeadgateProcess(
      this.#child([verb, ...this.#where(), ...port, ...json, ...own]),
      verb === 'work',
    );
    this.#processes.push(started);
    return started;
  }

  /** Starts a command over this folder; resolves when it is ready. */
  async start(verb: 'start' | 'serve' | 'work', flags: readonly string[] = []): Promise<HeadgateProcess> {
    const started = this.spawn(verb, flags);
    await started.untilReady();
    return started;
  }

  /** Runs a command that ends by itself, over this folder. */
  async run(verb: string, flags: readonly string[] = []): Promise<Outcome> {
    return this.runBare([verb, ...this.#where(), ...flags]);
  }

  /** Runs `headgate` with these arguments and variables alone. It is ended when it goes on for too long. */
  async runBare(args: readonly string[], variables: NodeJS.ProcessEnv = {}): Promise<Outcome> {
    const child = this.#child(args, variables);
    const texts = { stdout: '', stderr: '' };
    child.stdout?.on('data', (chunk) => (texts.stdout += String(chunk)));
    child.stderr?.on('data', (chunk) => (texts.stderr += String(chunk)));
    const tooLong = setTimeout(() => child.kill('SIGKILL'), READY_WITHIN_MS);
    const [code, signal] = await once(child, 'close');
    clearTimeout(tooLong);
    return { code, signal, ...texts };
  }

  /** Pid of the embedded Redis; undefined when none was started over this folder. */
  get redisPid(): number | undefined {
    try {
      return Number(readFileSync(join(this.dataDir, 'redis', 'redis.pid'), 'utf8')) || undefined;
    } catch {
      return undefined;
    }
  }

  /** Ends everything that runs over this folder and removes it. */
  async remove(): Promise<void> {
    await Promise.all(this.#processes.map((each) => each.kill()));
    await stopEmbeddedRedis(this.dataDir);
    await rm(this.dir, { recursive: true, force: true });
  }

  #where(): string[] {
    return ['--config', this.configFile, '--data', this.dataDir];
  }

  #child(args: readonly string[], variables: NodeJS.ProcessEnv = {}): ChildProcess {
    const child = spawn(process.execPath, [this.program, ...args], {
      cwd: this.dir,
      env: { ...plainEnvironment(), ...variables },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return endsWithUs(child);
  }
}

/** The environment without what would configure Headgate. */
function plainEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => name !== 'REDIS_URL' && !name.startsWith('HEADGATE_'));
  return { ...Object.fromEntries(kept), CI: '1' };
}

function parsed(line: string): Readonly<Record<string, unknown>> {
  if (!line.startsWith('{')) return {};
  try {
    return JSON.parse(line);
  } catch {
    return {};
  }
}

/** Pids of the processes that `pid` started, as the kernel lists them. */
function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((each) => parentOf(each) === pid);
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

function parentOf(pid: number): number | undefined {
  try {
    // The name, in parentheses, may hold anything; what follows its last one is plain.
    const [, parent] = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return Number(parent);
  } catch {
    return undefined;
  }
}

function killNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended meanwhile.
  }
}
