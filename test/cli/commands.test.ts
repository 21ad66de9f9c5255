import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HeadgateFolder, type HeadgateProcess, type Outcome } from '../support/headgate-process.js';

const TYPES = { echo: { handler: 'echo' }, talk: { handler: './talk.mjs', attempts: 1 } };
const TALK = `export default { run: async (job, ctx) => {
  if (job.data.fail) throw new Error('it was to fail');
  await ctx.progress(0.5);
  ctx.emit('once upon '); ctx.emit('a time');
  return { words: 4 };
} };
`;

let folder: HeadgateFolder;
let headgate: HeadgateProcess;
let here: NodeJS.ProcessEnv;
let admin: NodeJS.ProcessEnv;

beforeAll(async () => {
  folder = await HeadgateFolder.create({ types: TYPES, tiers: { default: { rate: 'unlimited' } } });
  await writeFile(join(folder.dir, 'talk.mjs'), TALK);
  headgate = await folder.start('start');
  here = { HEADGATE_URL: headgate.url, HEADGATE_KEY: headgate.demoKey };
  admin = { HEADGATE_URL: headgate.url, HEADGATE_KEY: headgate.adminKey };
});
afterAll(() => folder?.remove());

/** Runs a line of the command line as the tenant `demo`. */
const run = (line: string, env = here): Promise<Outcome> => folder.runBare(line.split(' '), env);

/** The one JSON document that a command printed. */
function printed({ stdout, stderr }: Outcome): Record<string, unknown> {
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

async function submitted(line: string): Promise<string> {
  const outcome = await run(`jobs submit ${line} --json`);
  return String(printed(outcome).id);
}

describe('headgate jobs', () => {
  it('submit --wait prints the end, and its code says how it was', async () => {
    await writeFile(join(folder.dir, 'payload.json'), '{"page":1}');
    const done = await run('jobs submit echo @payload.json --wait --json');
    expect([done.code, printed(done)]).toMatchObject([0, { state: 'completed', result: { page: 1 } }]);
    const failed = await run('jobs submit talk {"fail":true} --wait');
    expect(failed).toMatchObject({ code: 1, stderr: '' });
    expect(failed.stdout).toMatch(/^\S+\.talk\.0 {2}failed: it was to fail\n$/);
  });

  it('submit prints when the job starts; get, list and cancel see it', async () => {
    const first = await run('jobs submit echo {} --delay-ms 600000 --priority 2 --idempotency-key one');
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout).toMatch(/^\S+\.echo\.0 {2}delayed, starts \S+Z \(in \d+\.\d s, by delay\)\n$/);
    const again = await run('jobs submit echo {} --delay-ms 600000 --priority 2 --idempotency-key one --json');
    const { id } = printed(again);
    expect(first.stdout).toContain(String(id));
    expect(printed(again)).toMatchObject({ replayed: true });
    expect((await run(`jobs get ${id}`)).stdout).toMatch(/^priority +2$/m);
    const list = await run('jobs list --type echo --state delayed');
    expect(list.stdout.split('\n')).toEqual([
      expect.stringMatching(/^id +state/),
      expect.stringContaining(String(id)),
      '',
    ]);
    expect(await run(`jobs cancel ${id}`)).toMatchObject({ code: 0, stdout: `${id}  cancelled\n` });
    expect(printed(await run(`jobs get ${id} --json`))).toMatchObject({ state: 'cancelled' });
  });

  it('watch prints plain lines in a pipe, and JSON when asked to', async () => {
    const id = await submitted('talk {}');
    const watched = await run(`jobs watch ${id}`);
    expect(watched).toMatchObject({ code: 0, stderr: '' });
    expect(watched.stdout.split('\n').slice(-3)).toEqual(['once upon a time', 'completed: {"words":4}', '']);
    const events = (await run(`jobs watch ${id} --json`)).stdout.trim().split('\n');
    // What is emitted in one breath may come as one chunk.
    expect(new Set(events.map((line) => JSON.parse(line).event))).toEqual(new Set(['output', 'end']));
  });

  it('retry has one failed job wait again, or all of a type', async () => {
    const id = await submitted('talk {"fail":true}');
    expect((await run(`jobs get ${id} --wait`)).code).toBe(1);
    expect((await run(`jobs retry ${id}`)).stdout).toMatch(/^\S+ {2}(waiting|active|failed)\n$/);
    expect((await run(`jobs get ${id} --wait`)).code).toBe(1);
    const all = printed(await run('jobs retry --type talk --json'));
    expect([Number(all.retried) >= 1, all.full]).toEqual([true, false]);
  });
});

describe('headgate quote', () => {
  it('says when jobs would start, and hands in nothing', async () => {
    const quoted = await run('quote echo --count 100');
    expect(quoted).toMatchObject({ code: 0, stderr: '' });
    expect(quoted.stdout).toMatch(/^100 of echo, of cost 1 each, by (rate|capacity)\nfirst start {2}\S+Z/);
    expect(quoted.stdout).toMatch(/^last start +\S+Z/m);
    const one = printed(await run('quote talk --priority 2 --tenant acme --json', admin));
    expect(one).toMatchObject({ type: 'talk', tenant: 'acme', count: 1, priority: 2, startAt: expect.any(String) });
    expect((await run('jobs list --type echo --state waiting')).stdout).toBe('');
    const refused = await run('quote nope');
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/^headgate: unknown_type \(type\)/)]);
  });
});

describe('headgate tenants', () => {
  it('add makes a tenant known, with a key that works at once, and does it once', async () => {
    const made = await run('tenants add fresh tier=default echo.rate=3/s', admin);
    expect(made).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^hg_\S+\n$/) });
    const own = { HEADGATE_URL: headgate.url, HEADGATE_KEY: made.stdout.trim() };
    expect((await run('jobs submit echo', own)).code).toBe(0);
    expect((await run('tenants get fresh', admin)).stdout).toMatch(/^echo +rate +3\/s +override$/m);
    const again = await run('tenants add fresh', admin);
    expect([again.code, again.stderr]).toEqual([1, expect.stringMatching(/^headgate: fresh is there already/)]);
  });

  it('get and set show and change what holds, field by field', async () => {
    const set = await run('tenants set acme depth=7 echo.rate=2/s', admin);
    expect(set).toMatchObject({ code: 0, stderr: '' });
    expect(set.stdout).toMatch(/^echo +rate +2\/s +override$/m);
    expect(set.stdout).toMatch(/^talk +depth +7 +override$/m);
    await run('tenants set acme depth=null', admin);
    const { overrides } = printed(await run('tenants get acme --json', admin));
    expect(overrides).toEqual({ types: { echo: { rate: '2/s' } } });
    expect(printed(await run('tenants set acme --replace --json', admin)).overrides).toEqual({});
  });

  it('pause, purge and resume a tenant', async () => {
    expect((await run('tenants pause acme --type echo', admin)).stdout).toBe('echo  yes (hand)\n');
    await run('jobs submit echo --tenant acme', admin);
    expect(printed(await run('tenants purge acme --json', admin))).toEqual({ tenant: 'acme', cancelled: 1 });
    expect((await run('tenants resume acme', admin)).stdout).toBe('echo  no\ntalk  no\n');
  });
});

describe('headgate tenants list and keys', () => {
  it('make a key that works at once, show its tenant, and revoke it', async () => {
    const made = await run('tenants keys create newcomer', admin);
    expect(made).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^hg_\S+\n$/) });
    const own = { HEADGATE_URL: headgate.url, HEADGATE_KEY: made.stdout.trim() };
    expect((await run('jobs submit echo', own)).code).toBe(0);
    expect((await run('tenants list', admin)).stdout).toMatch(/^newcomer +default +no$/m);
    const { keys } = printed(await run('tenants keys list newcomer --json', admin));
    const [key] = Array.isArray(keys) ? keys : [];
    expect(made.stdout).toContain(key.prefix);
    const revoked = await run(`tenants keys revoke newcomer ${key.id}`, admin);
    expect(revoked.stdout).toBe(`${key.id}  revoked\n`);
    const refused = await run('jobs submit echo', own);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/^headgate: invalid_key/)]);
  });
});

describe('work and stop', () => {
  it('say in JSON that a worker is ready, and that no Redis ran', async () => {
    const worker = folder.spawn('work', ['--json']);
    await worker.until(() => worker.ready.ready === true, 'it was ready');
    expect(worker.ready).toEqual({ ready: true, pid: worker.pid });
    expect(await worker.stop()).toMatchObject({ code: 0 });
    const other = await HeadgateFolder.create({ types: { echo: {} } });
    const stopped = await other.run('stop', ['--json']);
    expect(printed(stopped)).toEqual({ outcome: 'not running', dataDir: other.dataDir });
    await other.remove();
  });
});

describe('what goes wrong', () => {
  it('is told in one line with code 1 when it was refused, as a document with --json', async () => {
    const refused = await run('jobs submit nope {}');
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/^headgate: unknown_type \(type\): .*\n$/);
    const document = await run('tenants get acme --json');
    expect([document.code, document.stdout, JSON.parse(document.stderr)]).toMatchObject([
      1,
      '',
      { code: 'admin_only' },
    ]);
  });

  it.each([
    ['no key', 'jobs get x', /no key: state --key or set HEADGATE_KEY/],
    ['no URL', 'jobs get x --key k --url nowhere', /--url: expected a URL .*got "nowhere"/],
    ['a payload that is no object', 'jobs submit echo [1] --key k', /the payload must be a JSON object/],
    ['a file that is not there', 'jobs submit echo @nope --key k', /cannot read nope/],
    ['an unknown state', 'jobs list --type echo --state done', /Allowed choices are waiting, delayed/],
    ['a field that is none', 'tenants set acme rate --key k', /expected field=value or type\.field=value.*got "rate"/],
    ['neither id nor type', 'jobs retry --key k', /state the id of a job, or --type/],
    ['a count that is none', 'quote echo --count many', /expected a whole number; got "many"/],
    ['a cost that is none', 'quote echo --cost dear', /expected a number; got "dear"/],
    ['a priority that is none', 'jobs submit echo --priority high', /expected a whole number; got "high"/],
  ])('%s is wrong usage, with code 2', async (_, line, message) => {
    const outcome = await folder.runBare(line.split(' '));
    expect(outcome).toMatchObject({ code: 2, stdout: '' });
    expect(outcome.stderr).toMatch(message);
    expect(outcome.stderr).not.toContain('    at ');
  });
});
