import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { argv } from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { Redis } from 'ioredis';
import { STORED_FORMAT } from '../../../src/shaping/stored-data.js';
import { HeadgateFolder } from '../headgate-process.js';
import { type RecordedForm, type RecordedJob, TYPES, WORLD } from './world.js';

/**
 * Records what a build of Headgate leaves in Redis: `npx jiti test/support/stored-form/record.ts FOLDER OUT.json`, where FOLDER
 * is a clone of this project at the build's commit, installed and built. It runs that build's API and worker over an embedded
 * Redis, brings tenants into every state there is, kills the worker in the middle of what it runs, and dumps all keys.
 */
const ADMIN = 'admin-key-of-the-recording';
const FAR_MS = 5 * 365 * 86_400_000;
const [, , home = '', out = ''] = argv;

const folder = await HeadgateFolder.create({
  ...WORLD,
  stalledInterval: '1h',
  admin: { keys: [ADMIN] },
  types: Object.fromEntries(
    Object.entries(TYPES).map(([name, type]) => [
      name,
      { ...type, handler: fileURLToPath(new URL('recorded-handler.mjs', import.meta.url)) },
    ]),
  ),
});
folder.program = join(home, 'bin/headgate.js');
const jobs: Omit<RecordedJob, 'state'>[] = [];

async function ask(
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<Record<string, unknown>> {
  const response = await fetch(`${api.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${ADMIN}`, ...(body && { 'content-type': 'application/json' }), ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
  const answer: Record<string, unknown> = JSON.parse(await response.text());
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
  return answer;
}

interface Handed {
  readonly data?: object;
  readonly type?: 'page' | 'gate';
  readonly priority?: number;
  readonly delayMs?: number;
  readonly cost?: number;
  readonly startBy?: string;
  readonly idempotencyKey?: string;
}

async function hand(tenant: string, job: Handed = {}): Promise<string> {
  const { data = { workMs: 20 }, type = 'page', idempotencyKey, ...rest } = job;
  const headers = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey };
  const id = String((await ask('POST', '/v1/jobs', { type, tenant, data, ...rest }, headers)).id);
  const { priority = 4, delayMs = 0, cost = 1 } = rest;
  jobs.push({ id, type, tenant, priority, delayMs, cost, ...(idempotencyKey !== undefined && { idempotencyKey }) });
  return id;
}

/** The libraries of those scripts that read and write jobs. */
async function shapingLibraries(): Promise<string[]> {
  const listed: unknown = await redis.function('LIST', 'LIBRARYNAME', 'headgate_*', 'WITHCODE');
  const texts = (Array.isArray(listed) ? listed : []).map((library: unknown[]) =>
    String(library[library.indexOf('library_code') + 1]),
  );
  return texts
    .filter((text) => text.includes("'dispatch_"))
    .map((text) => gzipSync(text, { level: 9 }).toString('base64'));
}

const stateOf = async ({ id, tenant }: { id: string; tenant: string }): Promise<string> =>
  String((await ask('GET', `/v1/jobs/${id}?tenant=${tenant}`)).state);

async function until(is: () => Promise<boolean>): Promise<void> {
  while (!(await is())) await pause(20);
}

const repeat = async (count: number, act: (i: number) => Promise<unknown>): Promise<void> => {
  for (let i = 0; i < count; i += 1) await act(i);
};

const api = await folder.start('serve');
const worker = await folder.start('work', ['--types', 'page', '--concurrency', 'page=6']);
const redis = new Redis(join(folder.dataDir, 'redis/redis.sock'));

// Ended in every way, and a tenant that went quiet.
await repeat(2, () => hand('ended'));
await hand('ended', { data: { fail: true } });
await hand('quiet', { cost: 4 });
await until(async () => (await Promise.all(jobs.map(stateOf))).every((state) => /^(completed|failed)$/.test(state)));
const cancelled = await hand('ended', { delayMs: FAR_MS });
await ask('DELETE', `/v1/jobs/${cancelled}?tenant=ended`);
// Paused by hand; changed and given a key at run time.
await ask('POST', '/v1/tenants/paused/pause');
await repeat(3, () => hand('paused'));
await ask('PATCH', '/v1/tenants/paced', { rate: '2/s' });
const { key } = await ask('POST', '/v1/tenants/keyed/keys', {});
// Paid at the door, of which nobody serves any.
await repeat(4, () => hand('policed', { type: 'gate' }));
// Two run for ever, and more of the same wait for a slot of their own.
await repeat(6, (i) => hand('crowd', { data: { workMs: 20, runs: i < 2 } }));
await hand('later', { delayMs: FAR_MS });
await hand('later', { delayMs: 1500 });
// Each of these starts one or a few and is then ahead of its rate.
await repeat(7, (i) => hand('paced', i === 6 ? { idempotencyKey: 'once' } : {}));
await repeat(6, (i) => hand('costly', { cost: [3, 1, 2][i % 3] ?? 1, priority: i < 4 ? 4 : 1 }));
await hand('costly', { priority: 9, startBy: new Date(Date.now() + FAR_MS).toISOString() });
await until(async () => (await redis.hlen('{hg:page:0}:running')) === 2);
// Whoever is ready where no slot is free.
await repeat(4, (i) => hand('fills', { data: { workMs: 20, runs: true }, priority: i }));
await until(async () => (await redis.hlen('{hg:page:0}:running')) === 6);
await repeat(3, () => hand('ready'));
await worker.kill();
await until(async () => (await redis.zcard('{hg:page:0}:ready')) > 0);

const states = await Promise.all(jobs.map(stateOf));
const names = (await redis.keys('*')).toSorted().filter((name) => !name.endsWith(':lock'));
const dumps = await Promise.all(
  names.map(
    async (name) =>
      [name, [await redis.pttl(name), String((await redis.dumpBuffer(name)).toString('base64'))]] as const,
  ),
);
const format = (await redis.hget('{hg:page:0}:type', 'format')) ?? '';
const form: RecordedForm = {
  commit: execFileSync('git', ['-C', home, 'rev-parse', 'HEAD'], { encoding: 'utf8' }).trim(),
  redis: /redis_version:(\S+)/.exec(await redis.info('server'))?.[1] ?? '',
  format,
  jobs: jobs.map((job, i) => ({ ...job, state: states[i] ?? '' })),
  tenantKey: String(key),
  keys: Object.fromEntries(dumps),
  // Those of this form are nothing to be closed.
  libraries: format === String(STORED_FORMAT) ? [] : await shapingLibraries(),
};
writeFileSync(out, `${JSON.stringify(form, null, 1)}\n`);
redis.disconnect();
await api.kill();
await folder.remove();
