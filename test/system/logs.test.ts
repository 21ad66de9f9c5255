import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { textField } from '../referee/json-field.js';
import type { HeadgateProcess } from '../support/headgate-process.js';
import { ADMIN_KEY, type RefereedSystem, refereedSystem } from './support/refereed-system.js';

const SECRET = 'what-only-the-tenant-may-read';
const REQUEST_ID = 'trace-7f3a';
const FOLLOWED = `${REQUEST_ID} acme speaking`;

let system: RefereedSystem;
let headgate: HeadgateProcess;

beforeAll(async () => {
  system = await refereedSystem(
    {
      types: {
        a: { attempts: 1 },
        plain: { handler: 'echo', options: {} },
        speaking: { handler: './speaking.mjs', options: {} },
      },
      tiers: { only: { rate: 'unlimited' } },
      defaultTier: 'only',
    },
    { types: ['a', 'plain', 'speaking'].map((type) => ({ type })), buckets: [], otherwise: { ratePerSecond: null } },
  );
  await writeFile(
    join(system.folder.dir, 'speaking.mjs'),
    "export default { run: async (_job, { log }) => log.info('the handler speaks') };",
  );
  headgate = await system.folder.start('start');
});
afterAll(async () => system?.end());

const ofEnds = () => [...headgate.said('job completed'), ...headgate.said('job failed')];

it('each job leaves one line at its end, at info', async () => {
  const witness = system.witness(headgate.url);
  const jobs = [{}, { fail: true }].map((data) => ({
    type: 'a',
    tenant: 'acme',
    cost: 1,
    data: { ...data, note: SECRET },
  }));
  const answers = await Promise.all(jobs.map((job) => witness.enqueue(job)));
  await witness.followToEnds();
  await headgate.until(() => ofEnds().length >= 2, 'both ends were logged');
  expect(ofEnds()).toMatchObject(
    ['completed', 'failed'].map((outcome, i) => ({
      level: 30,
      ...{ job: textField(answers[i]?.body, 'id'), tenant: 'acme', type: 'a', attempt: 1, outcome },
      ...{ waitMs: expect.any(Number), runMs: expect.any(Number) },
    })),
  );
  await system.referee.expectNoViolations();
});

it('the id of a request follows its job from the API to its handler and the end of its run', async () => {
  const headers = {
    authorization: `Bearer ${ADMIN_KEY}`,
    'content-type': 'application/json',
    'x-request-id': REQUEST_ID,
  };
  const body = JSON.stringify({ type: 'speaking', tenant: 'acme', data: { note: SECRET } });
  expect((await fetch(`${headgate.url}/v1/jobs`, { method: 'POST', headers, body })).status).toBe(202);
  const ofRequest = (message: string) =>
    headgate.said(message).filter(({ requestId, tenant, type }) => `${requestId} ${tenant} ${type}` === FOLLOWED);
  await headgate.until(() => ofRequest('job completed').length > 0, 'the end was logged');
  expect(ofRequest('the handler speaks')).toHaveLength(1);
});

const send = (path: string, body?: object, method = 'POST') =>
  fetch(`${headgate.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${ADMIN_KEY}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
const waitingJobs = (length: number) =>
  Array.from({ length }, () => ({ type: 'plain', data: { note: SECRET }, delayMs: 3_600_000 }));

it('a purge leaves one line for all that it ends', async () => {
  expect((await send('/v1/jobs/batch', { tenant: 'globex', jobs: waitingJobs(300) })).status).toBe(200);
  for (let i = 0; i < 2; i += 1) expect((await send('/v1/tenants/globex/purge')).status).toBe(200);
  await headgate.until(() => headgate.said('jobs purged').length > 0, 'the purge was logged');
  expect(headgate.said('jobs purged')).toMatchObject([
    { level: 30, tenant: 'globex', type: 'plain', cancelled: 300, outcome: 'cancelled' },
  ]);
  expect(headgate.said('job cancelled')).toEqual([]);
});

it('a job that is cancelled while it waits leaves one line', async () => {
  const posted = await send('/v1/jobs', { tenant: 'initech', ...waitingJobs(1)[0] });
  const id = textField(await posted.json(), 'id');
  expect((await send(`/v1/jobs/${id}?tenant=initech`, undefined, 'DELETE')).status).toBe(200);
  await headgate.until(() => headgate.said('job cancelled').length > 0, 'the end was logged');
  expect(headgate.said('job cancelled')).toMatchObject([
    { level: 30, job: id, tenant: 'initech', type: 'plain', outcome: 'cancelled', waitMs: expect.any(Number) },
  ]);
});

it('the deletion of a tenant leaves one line for all that it ends', async () => {
  expect((await send('/v1/jobs/batch', { tenant: 'initech', jobs: waitingJobs(3) })).status).toBe(200);
  expect((await send('/v1/tenants/initech', undefined, 'DELETE')).status).toBe(200);
  await headgate.until(() => headgate.said('tenant erased').length > 0, 'the deletion was logged');
  // The three, and the one that was cancelled before.
  expect(headgate.said('tenant erased')).toMatchObject([
    { level: 30, tenant: 'initech', erased: 4, running: 0, more: false },
  ]);
});

it('in a terminal the log is for people: no JSON, and the time of day first', async () => {
  const { configFile, dataDir, program } = system.folder;
  const command = [process.execPath, program, 'serve', '--config', configFile, '--data', dataDir];
  const line = [...command, '--listen', '127.0.0.1:0'].map((word) => `'${word}'`).join(' ');
  // `script` gives it a terminal of its own. A variable CI would say that nobody watches.
  const { CI: _, ...env } = process.env;
  const inTerminal = spawn('script', ['-q', '-e', '-c', line, '/dev/null'], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let text = '';
  inTerminal.stdout.on('data', (chunk) => (text += stripVTControlCharacters(String(chunk))));
  try {
    await expect.poll(() => text, { timeout: 60_000 }).toMatch(/^\[\d\d:\d\d:\d\d\.\d{3}\] INFO: redis/m);
    expect(text).not.toContain('{"level"');
  } finally {
    const ended = once(inTerminal, 'exit');
    inTerminal.kill('SIGTERM');
    await ended;
  }
});

it('no line holds a key, a payload or a result', () => {
  const log = headgate.lines.join('\n');
  expect(log).toContain(REQUEST_ID);
  for (const hidden of [SECRET, ADMIN_KEY, '"run":']) expect(log).not.toContain(hidden);
});
