import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isEnd } from '../referee/job-ends.js';
import { textField } from '../referee/json-field.js';
import type { Witness } from '../referee/witness.js';
import type { HeadgateProcess } from '../support/headgate-process.js';
import { EXAMPLE_WORKER, PythonWorker } from './support/python-worker.js';
import { ADMIN_KEY, type RefereedSystem, refereedSystem } from './support/refereed-system.js';
import { runningOf, sampleRunning } from './support/running-jobs.js';

const WORKER_KEY = 'worker-key-of-the-system-tests';
const WORDS_KEY = 'a-key-of-workers-for-words';
/** Claims with one key that may wait at once. */
const CLAIMS = 8;
const TYPE_CAP = 3;
const DEPTH = 30;
const TENANTS = ['one', 'two'];

/** The work of the example, done by the referee: in the middle of the documentation's own lines. */
const REFEREED_WORK = `
def work(data, emit):
    def call(path, body):
        request = urllib.request.Request(data["referee"] + path, json.dumps(body).encode(), {"content-type": "application/json"})
        return json.loads(urllib.request.urlopen(request, timeout=60).read())
    called = time.monotonic_ns() / 1e6
    run = call("/start", {**{name: job[name] for name in ("type", "tenant", "cost", "attempt")}, "job": job["id"], "workMs": data["workMs"], "calledAt": called})["run"]
    call("/end", {"run": run, "outcome": "ok"})
    return {"run": run}
`;

let system: RefereedSystem;
let api: HeadgateProcess;
let witness: Witness;
let own: string;
const workers: PythonWorker[] = [];

beforeAll(async () => {
  own = await mkdtemp(join(tmpdir(), 'hg-python-'));
  const terms = { ratePerSecond: null, depth: DEPTH, concurrency: 2 };
  system = await refereedSystem(
    {
      lockDuration: '2s',
      stalledInterval: '200ms',
      workers: { keys: [WORKER_KEY, { key: WORDS_KEY, types: ['words'] }] },
      connections: { claims: { perKey: CLAIMS } },
      types: {
        a: { handler: undefined, options: undefined, capacity: { concurrency: TYPE_CAP } },
        words: { handler: undefined, options: undefined },
      },
      tiers: { only: { rate: 'unlimited', depth: DEPTH, concurrency: 2 } },
      defaultTier: 'only',
    },
    {
      separateClocks: true,
      types: [
        { type: 'a', slots: 4, capacity: { concurrency: TYPE_CAP } },
        { type: 'words', slots: 1 },
      ],
      buckets: [],
      otherwise: terms,
    },
    { arrivalMs: 2000 },
  );
  api = await system.folder.start('serve');
  witness = system.witness(api.url);
});
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.kill()));
  await system?.end();
  await rm(own, { recursive: true });
});

async function start(file: string, type: string): Promise<PythonWorker> {
  const worker = await PythonWorker.start(file, { url: api.url, type, key: WORKER_KEY });
  workers.push(worker);
  return worker;
}

it('the worker of the documentation does the work of a type', async () => {
  const worker = await start(EXAMPLE_WORKER, 'words');
  const response = await fetch(`${api.url}/v1/jobs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json', prefer: 'wait=60' },
    body: JSON.stringify({ type: 'words', tenant: 'one', data: { text: 'a low dam across a river' } }),
  });
  const job: unknown = await response.json();
  expect(job, worker.said).toMatchObject({ state: 'completed', result: { words: 6 }, attempts: 1 });
  const events = await fetch(`${api.url}/v1/jobs/${textField(job, 'id')}/events?tenant=one`, {
    headers: { authorization: `Bearer ${ADMIN_KEY}` },
  });
  expect(await events.text()).toContain('"chunk":"3 "');
  await worker.stop();
  expect(worker.said).toBe('');
});

it('a key that is bound to a type has no other, and as many claims wait with it as may', async () => {
  const claim = async (type: string, waitMs: number) => {
    const headers = { authorization: `Bearer ${WORDS_KEY}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ type, waitMs });
    const answer = await fetch(`${api.url}/v1/workers/claim`, { method: 'POST', headers, body });
    const text = await answer.text();
    return text === '' ? answer.status : `${answer.status} ${textField(JSON.parse(text), 'code')}`;
  };
  expect(await claim('a', 0)).toBe('403 type_forbidden');
  const answers = await Promise.all(Array.from({ length: 3 * CLAIMS }, () => claim('words', 3000)));
  expect(new Set(answers)).toEqual(new Set([204, '429 too_many_waiting']));
});

it('four of them, all killed at once and followed by others, lose no job and break no cap', {
  timeout: 180_000,
}, async () => {
  const example = await readFile(EXAMPLE_WORKER, 'utf8');
  const refereed = example.replace(/\ndef work\(.*?\n\n/s, `${REFEREED_WORK}\n`);
  expect(refereed).toContain('/start');
  const file = join(own, 'refereed.py');
  await writeFile(file, refereed);
  const startFour = () => Promise.all([1, 2, 3, 4].map(() => start(file, 'a')));
  const victims = await startFour();
  const sampling = sampleRunning(system, api.url, 'a', TENANTS);
  const data = { workMs: 300, referee: system.referee.url };
  for (const tenant of TENANTS) {
    await witness.enqueueBatch(
      tenant,
      Array.from({ length: DEPTH }, () => ({ type: 'a', cost: 1, data })),
    );
  }
  const starts = (atLeast: number) =>
    system.referee.until((trace) => trace.filter(({ kind }) => kind === 'start').length >= atLeast);
  await starts(12);
  // A job takes a hundred times as long as to get the next one: some of them have one.
  await Promise.all(victims.map((victim) => victim.kill()));
  await startFour();
  await witness.followToEnds(120_000);
  await sampling.stop();
  expect(await runningOf(system, api.url, 'a')).toBe(0);
  const trace = await system.referee.trace();
  const ends = trace.flatMap((event) => (event.kind === 'sight' && isEnd(event.state) ? [event.state] : []));
  expect(ends).toHaveLength(2 * DEPTH);
  expect(new Set(ends)).toEqual(new Set(['completed']));
  expect(api.said('jobs of a worker that is gone were taken back').length).toBeGreaterThanOrEqual(1);
  await system.referee.expectNoViolations();
  expect(workers.map(({ said }) => said).join('')).toBe('');
});
