import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { validate } from 'dockerfile-utils';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../src/redis/embedded/run-command.js';
import { eventually } from '../support/eventually.js';
import { HeadgateProcess } from '../support/headgate-process.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { freePort } from '../system/support/free-port.js';
import { type BuiltImage, buildImage } from './support/built-image.js';
import { readCompose } from './support/compose.js';
import { DOCKERFILE, stagesOf } from './support/dockerfile.js';

/** `npm ci` twice and a build, on a machine that does other things. */
const BUILD_MS = 900_000;
/** Whom the processes run as where the tests may choose: one who owns nothing. */
const NOBODY = process.getuid?.() === 0 ? 65_534 : undefined;
const KEYS = { HEADGATE_ADMIN_KEY: 'the-admin-key-of-this-test', HEADGATE_ACME_KEY: 'the-key-of-acme-of-this-test' };
const compose = readCompose({ ...KEYS, GRAFANA_PASSWORD: 'of this test' });

describe('the Dockerfile', () => {
  const stages = stagesOf(DOCKERFILE);

  it('has no fault that a linter sees', () => {
    expect(validate(DOCKERFILE).map(({ message }) => message)).toEqual([]);
  });

  it('leaves the tools of the build behind, and runs as somebody without rights', () => {
    expect(stages.map(({ name }) => name)).toEqual(['build', 'packages', undefined]);
    expect(stages.map(({ image }) => image)).toEqual(Array(3).fill(expect.stringMatching(/^node:\d+-slim$/)));
    expect(stages.at(-1)?.steps).toContainEqual({ kind: 'user', name: 'node' });
  });
});

describe('an image, made in empty folders by every instruction of the Dockerfile', () => {
  let folder: string;
  let image: BuiltImage;
  let files: string[];
  let redis: TestRedis;
  let api: HeadgateProcess;
  let worker: HeadgateProcess;
  const ports = { api: 0, worker: 0 };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hg-image-'));
    image = await buildImage(stagesOf(DOCKERFILE), folder);
    // What the container's /tmp is: the one place where something may be written.
    await mkdir(join(folder, 'tmp'));
    if (NOBODY !== undefined) await chown(join(folder, 'tmp'), NOBODY, NOBODY);
    await chmod(folder, 0o755);
    await runCommand('chmod', ['-R', 'a-w,a+rX', image.root], { timeoutMs: 60_000 });
    files = await filesOf(image);
    redis = await startRedis({ port: true, appendonly: true, args: redisArguments() });
    ports.api = await freePort();
    ports.worker = await freePort();
  }, BUILD_MS);
  afterAll(async () => {
    for (const each of [api, worker]) await each?.kill();
    await redis?.stop();
    await runCommand('chmod', ['-R', 'u+w', folder], { timeoutMs: 60_000 });
    await rm(folder, { recursive: true, force: true });
  }, BUILD_MS);

  /** A command in the image: its absolute paths below the image's root, its variables, a port of this machine's own. */
  function runInImage(command: readonly string[], port: number, variables: Readonly<Record<string, string>> = {}) {
    const [program = '', ...args] = command.map((word) => word.replace('8080', String(port)));
    const home = join(folder, 'tmp');
    return spawn(program, args.map(belowRoot), {
      cwd: join(image.root, image.workdir),
      env: {
        ...{ PATH: process.env.PATH, HOME: '/nonexistent', TMPDIR: home, CI: '1' },
        ...Object.fromEntries(Object.entries(image.env).map(([name, value]) => [name, belowRoot(value)])),
        ...variables,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(NOBODY !== undefined && { uid: NOBODY, gid: NOBODY }),
    });
  }
  const belowRoot = (word: string) => (/^\/(app|etc)\//.test(word) ? join(image.root, word) : word);

  /** A service of the compose file, with its command and its environment. */
  function service(name: 'api' | 'worker'): HeadgateProcess {
    const { command = image.cmd, environment = {} } = compose.services[name] ?? {};
    const own = { ...environment, REDIS_URL: redis.url ?? '', HEADGATE_LISTEN: `127.0.0.1:${ports[name]}` };
    return new HeadgateProcess(runInImage([...image.entrypoint, ...command], ports[name], own), name === 'worker');
  }

  async function isHealthy(name: 'api' | 'worker'): Promise<boolean> {
    const [code] = await once(runInImage(image.healthcheck, ports[name]), 'close');
    return code === 0;
  }

  it('has what it runs, and nothing that only builds or tests', async () => {
    const packages = await readdir(join(image.root, 'app/node_modules'));
    expect(packages).toEqual(expect.arrayContaining(['bullmq', 'fastify', 'ioredis']));
    expect(packages).not.toEqual(expect.arrayContaining(['typescript']));
    expect(packages).not.toEqual(expect.arrayContaining(['vitest']));
    expect(await readdir(join(image.root, 'app'))).toEqual(
      ['bin', 'dist', 'headgate.yaml', 'lua', 'node_modules', 'package.json', 'src'].toSorted(),
    );
  });

  it('runs the API and a worker as the compose file does, without a right to write', async () => {
    api = service('api');
    worker = service('worker');
    await worker.untilReady();
    await eventually(async () => expect([await isHealthy('api'), await isHealthy('worker')]).toEqual([true, true]));
  });

  it('takes a job through', async () => {
    const answer = await fetch(`http://127.0.0.1:${ports.api}/v1/jobs`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${KEYS.HEADGATE_ACME_KEY}`,
        'content-type': 'application/json',
        prefer: 'wait=60',
      },
      body: JSON.stringify({ type: 'echo', data: { from: 'the image' } }),
    });
    expect(await answer.json()).toMatchObject({ state: 'completed', result: { from: 'the image' } });
    expect(answer.status).toBe(200);
  });

  it('leaves in order on SIGTERM, is not healthy then, and has written nothing', async () => {
    expect(await Promise.all([worker.stop(), api.stop()])).toEqual(Array(2).fill({ code: 0, signal: null }));
    expect([await isHealthy('api'), await isHealthy('worker')]).toEqual([false, false]);
    expect(await filesOf(image)).toEqual(files);
  });
});

/** The arguments that the compose file gives to Redis, which belong to it and not to where the test keeps its data. */
function redisArguments(): string[] {
  const [program, ...args] = compose.services.redis?.command ?? [];
  if (program !== 'redis-server') throw new Error(`Redis is started by ${program}`);
  return args;
}

async function filesOf({ root }: BuiltImage): Promise<string[]> {
  return (await readdir(root, { recursive: true })).toSorted();
}
