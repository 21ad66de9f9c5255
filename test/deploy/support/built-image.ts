import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { PROJECT, type Stage, type Step } from './dockerfile.js';

/** What a build left: a folder that stands for the root of the image, and what the image says of itself. */
export interface BuiltImage {
  readonly root: string;
  readonly workdir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly user: string;
  readonly healthcheck: readonly string[];
  readonly entrypoint: readonly string[];
  readonly cmd: readonly string[];
}

interface Building {
  readonly root: string;
  workdir: string;
  env: Record<string, string>;
  user: string;
  healthcheck: string[];
  entrypoint: string[];
  cmd: string[];
}

/**
 * Carries out every instruction of a Dockerfile, each stage in an empty folder, as an engine does in an empty image; absolute
 * paths are those below the stage's folder. Programs are those of this machine.
 *
 * @param folder An empty one. The stages are made in it.
 * @throws Error with what a command wrote that did not end with 0.
 */
export async function buildImage(stages: readonly Stage[], folder: string): Promise<BuiltImage> {
  const context = join(folder, 'context');
  await copyContext(context);
  const built = new Map<string, Promise<BuiltImage>>();
  for (const [i, { name = `stage-${i}`, steps }] of stages.entries()) {
    built.set(name, buildStage(steps, join(folder, name), { context, built }));
  }
  const [last] = (await Promise.all(built.values())).slice(-1);
  if (last === undefined) throw new Error('the Dockerfile has no stage');
  return last;
}

/** Where `COPY` finds what it copies. */
interface Origins {
  readonly context: string;
  /** The stages up to this one. They are built at the same time; who copies from one waits for it. */
  readonly built: ReadonlyMap<string, Promise<BuiltImage>>;
}

async function buildStage(steps: readonly Step[], root: string, origins: Origins): Promise<BuiltImage> {
  await mkdir(root);
  const building: Building = { root, workdir: '/', env: {}, user: 'root', healthcheck: [], entrypoint: [], cmd: [] };
  for (const step of steps) await carryOut(step, building, origins);
  return building;
}

/** What .dockerignore lets an engine see: here, the names after `!`, and nothing else. */
async function copyContext(context: string): Promise<void> {
  const lines = (await readFile(join(PROJECT, '.dockerignore'), 'utf8')).trim().split('\n');
  const [first, ...kept] = lines;
  if (first !== '*' || kept.some((line) => !line.startsWith('!'))) throw new Error('.dockerignore has another form');
  for (const line of kept) {
    const name = line.slice(1);
    await cp(join(PROJECT, name), join(context, name), { recursive: true });
  }
}

async function carryOut(step: Step, into: Building, origins: Origins): Promise<void> {
  switch (step.kind) {
    case 'workdir':
      into.workdir = step.path;
      await mkdir(join(into.root, step.path), { recursive: true });
      return;
    case 'copy': {
      const base = step.from === undefined ? origins.context : (await origins.built.get(step.from))?.root;
      if (base === undefined) throw new Error(`there is no stage ${step.from}`);
      for (const source of step.sources) await copy(join(base, source), within(into, step.target), step.target);
      return;
    }
    case 'run':
      return run(step.command, into);
    case 'env':
      into.env = { ...into.env, ...step.variables };
      return;
    case 'user':
      into.user = step.name;
      return;
    case 'healthcheck':
    case 'entrypoint':
    case 'cmd':
      into[step.kind] = step.command;
  }
}

function within({ root, workdir }: Building, path: string): string {
  return join(root, resolve(workdir, path));
}

/** A folder's content goes to the target; a file goes into it where it ends with a slash. */
async function copy(source: string, target: string, written: string): Promise<void> {
  const file = written.endsWith('/') ? join(target, basename(source)) : target;
  await cp(source, file, { recursive: true, verbatimSymlinks: true });
}

async function run(command: string, into: Building): Promise<void> {
  const child = spawn('/bin/sh', ['-c', command], {
    cwd: join(into.root, into.workdir),
    env: { ...buildEnvironment(), ...into.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += String(chunk)));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${command} ended with ${code}:\n${said}`);
}

/** The environment without what npm and the tests put there, so that packages come as they do on a machine of their own. */
function buildEnvironment(): NodeJS.ProcessEnv {
  const ours =
    /^(npm_(package|lifecycle|command|execpath|node)|npm_config_(local_prefix|prefix)$|INIT_CWD$|NODE_ENV$|VITEST|HEADGATE_)/;
  const kept = Object.entries(process.env).filter(([name]) => !ours.test(name));
  const path = (process.env.PATH ?? '').split(':').filter((folder) => !folder.includes('node_modules'));
  // What has been downloaded once is not asked for again.
  return { ...Object.fromEntries(kept), PATH: path.join(':'), npm_config_prefer_offline: 'true' };
}
