import { execFile } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { textField } from '../referee/json-field.js';
import { Referee } from '../referee/referee.js';
import { Witness } from '../referee/witness.js';
import { HeadgateFolder, type HeadgateProcess } from '../support/headgate-process.js';
import { REFEREE_HANDLER } from './support/refereed-system.js';

const run = promisify(execFile);

let referee: Referee;
let folder: HeadgateFolder;
let first: HeadgateProcess;

beforeAll(async () => {
  const terms = { ratePerSecond: null, depth: 1000 };
  referee = await Referee.start({
    contract: { types: [{ type: 'a' }], buckets: [], otherwise: terms },
    tolerances: { arrivalMs: 500 },
  });
  folder = await HeadgateFolder.create({
    types: { a: { handler: REFEREE_HANDLER, options: { referee: referee.url } } },
    tiers: { only: { rate: 'unlimited' } },
    defaultTier: 'only',
  });
  first = folder.spawn('start', ['--no-json']);
  await first.until(() => curlLine() !== undefined, 'it greeted');
}, 120_000);
afterAll(async () => {
  await folder?.remove();
  await referee?.stop();
});

const curlLine = () => first.lines.find((line) => line.trim().startsWith('curl '));
const urlOf = (line: string | undefined) => /http:\/\/[\d.:]+/.exec(line ?? '')?.[0] ?? '';

async function storedKeys(): Promise<unknown> {
  return JSON.parse(await readFile(join(folder.dataDir, 'keys.json'), 'utf8'));
}

describe('the first start', () => {
  it('makes keys that only this user can read, and shows them once', async () => {
    const { mode } = await stat(join(folder.dataDir, 'keys.json'));
    expect((mode & 0o777).toString(8)).toBe('600');
    const keys = await storedKeys();
    expect(keys).toEqual({
      adminKey: expect.stringMatching(/^hg_admin_/),
      demoKey: expect.stringMatching(/^hg_demo_/),
    });
    const shown = first.lines.join('\n');
    expect(shown).toContain(textField(keys, 'adminKey'));
    expect(shown).toContain(textField(keys, 'demoKey'));
    expect(shown).toContain(join(folder.dataDir, 'keys.json'));
  });

  it('prints a curl line that works when pasted', async () => {
    const sentAt = referee.now();
    const { stdout } = await run('bash', ['-c', curlLine() ?? 'false'], { env: { PATH: process.env.PATH } });
    const body: unknown = JSON.parse(stdout);
    expect(body).toMatchObject({ type: 'a', tenant: 'demo', state: expect.stringMatching(/^(waiting|active)$/) });
    const job = { type: 'a', tenant: 'demo', priority: 4, delayMs: 0, cost: 1 };
    referee.recordAdmission({ ...job, sentAt, answeredAt: referee.now(), status: 202, body });
    await completed(await witnessAt(urlOf(curlLine())), textField(body, 'id') ?? '');
  });
});

describe('a second start over the same data folder', () => {
  let second: HeadgateProcess;
  beforeAll(async () => {
    second = folder.spawn('start', ['--no-json']);
    await second.until(() => second.lines.some((line) => line.trim().startsWith('curl ')), 'it greeted');
  }, 120_000);

  it('keeps the keys, and shows where they are instead of what they are', async () => {
    const keys = await storedKeys();
    const shown = second.lines.join('\n');
    expect(shown).not.toContain(textField(keys, 'adminKey'));
    expect(shown).toContain(join(folder.dataDir, 'keys.json'));
    expect(shown).toContain(textField(keys, 'demoKey'));
  });

  it('shares the Redis of the first: a job posted here can be read there', async () => {
    expect(second.said('redis')).toEqual([expect.objectContaining({ rung: 'adopted', pid: folder.redisPid })]);
    const here = await witnessAt(urlOf(second.lines.find((line) => line.includes('curl '))));
    const answer = await here.enqueue({ type: 'a', tenant: 'demo', cost: 1 });
    expect(answer.status).toBe(202);
    await completed(await witnessAt(urlOf(curlLine())), textField(answer.body, 'id') ?? '');
  });

  it('on the same port ends in one line, and takes nothing away from those that run', {
    timeout: 120_000,
  }, async () => {
    const outcome = await folder.run('start', ['--listen', new URL(urlOf(curlLine())).host]);
    expect(outcome.code).toBe(1);
    const lines = outcome.stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
    expect(lines).toEqual([expect.stringMatching(/^headgate: .*in use/)]);
    expect((await fetch(`${urlOf(curlLine())}/readyz`)).status).toBe(200);
  });

  it('leaves Redis to the first when it stops; the last one ends it', async () => {
    expect(await second.stop()).toEqual({ code: 0, signal: null });
    expect((await fetch(`${urlOf(curlLine())}/readyz`)).status).toBe(200);
    expect(await first.stop()).toEqual({ code: 0, signal: null });
    expect((await folder.run('stop')).stdout).toBe(`Redis was not running (${folder.dataDir})\n`);
  });
});

describe('headgate stop', () => {
  it('ends the Redis that a kill -9 left behind, and the data stays', async () => {
    const killed = await folder.start('start');
    const there = await witnessAt(killed.url);
    const answer = await there.enqueue({ type: 'a', tenant: 'demo', cost: 1 });
    await completed(there, textField(answer.body, 'id') ?? '');
    await killed.kill();
    const stopped = await folder.run('stop');
    expect(stopped).toMatchObject({ code: 0, stdout: `Redis stopped (${folder.dataDir})\n`, stderr: '' });

    const again = await folder.start('start');
    const { body } = await (await witnessAt(again.url)).look('demo', textField(answer.body, 'id') ?? '');
    expect(textField(body, 'state')).toBe('completed');
    await referee.expectNoViolations();
  });
});

/** A client with the demo key. */
async function witnessAt(baseUrl: string): Promise<Witness> {
  const demoKey = textField(await storedKeys(), 'demoKey') ?? '';
  return new Witness(referee, { baseUrl, keyOf: () => demoKey });
}

async function completed(witness: Witness, id: string): Promise<void> {
  const state = async () => textField((await witness.look('demo', id)).body, 'state');
  await expect.poll(state).toBe('completed');
}
