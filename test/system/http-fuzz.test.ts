import { randomInt } from 'node:crypto';
import { Agent } from 'node:http';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PROBLEMS } from '../../src/http/problems.js';
import { JOB_STATES } from '../../src/model/verdict.js';
import { operationsOf } from '../http/support/api-operations.js';
import { type ApiRequest, ask } from '../http/support/ask.js';
import { KEYS } from '../http/support/test-config.js';
import { HeadgateFolder, type HeadgateProcess } from '../support/headgate-process.js';
import { withEnvironment } from './support/fake-clock.js';
import { fuzzedRequest, type Material } from './support/fuzz/fuzzed-request.js';
import { type RawRequest, rawRequest, sendRaw } from './support/fuzz/raw-request.js';

const COLLECTS = fileURLToPath(new URL('support/collect-on-signal.cjs', import.meta.url));
const REQUESTS = 20_000;
const WARM = 2000;
const CHUNK = 500;
const LANES = 16;
/** Of a chunk: bytes over a socket of their own. */
const RAW_SHARE = 0.05;
/** Far more than the 10 s until headers have to be there, and the 2 s that Redis may take. */
const DEADLINE_MS = 30_000;
/** A claim waits up to a minute for a job, as it says; who asked has long left then. */
const CLAIM = { path: '/v1/workers/claim', patienceMs: 1000 };
const MOST_MEMORY = 1.2;
/** It takes one minute where nothing else runs, and five where ten others do. */
const TIMEOUT_MS = 1_200_000;
/** To make what was answered wrongly smaller: it is told as it is, too, and a test that runs out of time tells nothing. */
const SHRINK_MS = 60_000;

const CONFIG = {
  admin: { keys: [KEYS.admin] },
  gateways: { keys: [KEYS.gateway] },
  types: {
    echo: { handler: 'echo', keepResults: { age: '1m', count: 20 } },
    ocr: { cost: { from: 'data.pages', min: 1, max: 500, default: 1 }, policy: 'api', maxPayload: '2KB' },
    chat: { cost: { request: { min: 1, max: 100 }, default: 10 }, mode: 'police' },
  },
  tiers: { pro: { rate: '50/s', burst: 20, depth: 50 }, free: { rate: '1/s', depth: 5, allow: ['echo', 'ocr'] } },
  defaultTier: 'free',
  tenants: { acme: { tier: 'pro', key: KEYS.acme }, small: { key: KEYS.small } },
  // A busy machine is no outage: with a closed policy, that would be a 503.
  policies: {
    api: { rate: '1000/s', burst: 1000, onOutage: 'closed', deadline: '5s' },
    pay: { algorithm: 'sliding-window-log', limit: 60, window: '1m', onOutage: 'closed', deadline: '5s' },
    tight: { rate: '1/m', burst: 1, onOutage: 'local' },
  },
  routes: [{ method: 'GET', path: '/reports/:id', policy: 'api' }],
};

let folder: HeadgateFolder;
let headgate: HeadgateProcess;
let requests: fc.Arbitrary<ApiRequest>;
let port: number;
const agent = new Agent({ keepAlive: true, maxSockets: LANES });
const seen = new Map<number, number>();

beforeAll(async () => {
  folder = await HeadgateFolder.create(CONFIG);
  headgate = await withEnvironment({ NODE_OPTIONS: `--require ${COLLECTS}` }, () => folder.start('start'));
  port = Number(new URL(headgate.url).port);
  const document = await ask(headgate.url, { method: 'GET', url: '/docs/json', headers: {} });
  requests = fuzzedRequest(operationsOf(JSON.parse(document.body)), await material());
});
afterAll(async () => {
  agent.destroy();
  await folder?.remove();
});

/** Names and ids that are there, so that requests get far. */
async function material(): Promise<Material> {
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
  const gateway = { 'x-headgate-gateway-key': KEYS.gateway };
  const post = async (type: string, delayMs: number): Promise<string> => {
    const headers = { ...bearer(KEYS.acme), 'content-type': 'application/json' };
    const body = JSON.stringify({ type, data: { pages: 1 }, delayMs });
    return JSON.parse((await ask(headgate.url, { method: 'POST', url: '/v1/jobs', headers, body })).body).id;
  };
  const jobs = await Promise.all([post('echo', 0), post('ocr', 0), post('echo', 600_000), post('ocr', 600_000)]);
  const rates = ['1/s', '500/s', 'unlimited', '0', '60/m', null];
  return {
    meaningful: {
      id: [...jobs, 'acme', 'small', 'new', '01kcb6v0xk3t4m5n6p7q8r9s0t.ocr.0'],
      name: ['echo', 'ocr', 'chat', 'pro', 'free', 'nope'],
      tenant: ['acme', 'acme', 'small', 'new'],
      type: ['echo', 'ocr', 'chat'],
      state: [...JOB_STATES, 'failed', 'failed'],
      policy: ['api', 'pay', 'tight', 'nope'],
      key: ['a', 'b', '5f1d0c9a3b7e2468'],
      cursor: [`1796000000000~${jobs[0]}`, 'r0', 'd0', 'n0', 'acme'],
      data: [{}, { pages: 3 }, { text: 'x'.repeat(3000) }],
      runAt: ['2020-01-01T00:00:00Z', '2030-01-01T00:00:00+01:00'],
      startBy: ['2099-12-31T23:59:59.999+14:00', '2020-01-01T00:00:00Z'],
      idempotencyKey: ['a', 'b', 'c'],
      rate: rates,
      jobRate: rates,
      tier: ['pro', 'free', null],
      mode: ['police', 'shape', null],
      types: [{ ocr: { rate: '2/s' } }, { echo: { depth: 5 } }, {}, null],
      capacity: [{ rate: '20/s' }, { concurrency: 2 }, { rate: null }, null],
      'Idempotency-Key': ['a', 'b', 'c'],
      // Who waits takes time; a few will do.
      Prefer: ['wait=0', 'wait=0', 'wait=0', 'respond-async', 'wait=1'],
      'Last-Event-ID': ['1-1', 'end'],
      'X-Original-Method': ['GET', 'POST'],
      'X-Original-URI': ['/reports/7', '/elsewhere'],
      'X-Headgate-Tier': ['pro', 'free', 'nope'],
    },
    keys: [
      ...Array(6).fill(bearer(KEYS.admin)),
      ...Array(6).fill({ ...bearer(KEYS.admin), ...gateway }),
      ...Array(10).fill(bearer(KEYS.acme)),
      ...Array(10).fill({ ...bearer(KEYS.acme), ...gateway }),
      ...Array(4).fill(bearer(KEYS.small)),
      bearer(KEYS.gateway),
      {},
      { ...bearer('nobody-has-this-key'), 'x-headgate-gateway-key': 'nor-this-one' },
    ],
  };
}

/** What is wrong with how a request was answered; undefined when nothing is. */
async function faultOf(request: ApiRequest): Promise<string | undefined> {
  const mayBeLeft = request.url.startsWith(CLAIM.path);
  const signal = AbortSignal.timeout(mayBeLeft ? CLAIM.patienceMs : DEADLINE_MS);
  try {
    const { status, headers, body } = await ask(headgate.url, request, {
      agent,
      signal,
      leave: (head) => head.headers['content-type']?.startsWith('text/event-stream') === true,
    });
    seen.set(status, (seen.get(status) ?? 0) + 1);
    if (status >= 500) return `${status} ${body}`;
    if (status < 400 || request.method === 'HEAD') return undefined;
    if (headers['content-type'] !== 'application/problem+json') return `no problem document: ${status} ${body}`;
    return JSON.parse(body).code in PROBLEMS ? undefined : `an unknown code: ${body}`;
  } catch (error) {
    return mayBeLeft && signal.aborted ? undefined : String(error);
  }
}

async function faultOfRaw(bytes: RawRequest): Promise<string | undefined> {
  try {
    const statuses = await sendRaw(port, bytes, DEADLINE_MS);
    for (const status of statuses) seen.set(status, (seen.get(status) ?? 0) + 1);
    return statuses.some((status) => status >= 500) ? `answered ${statuses}` : undefined;
  } catch (error) {
    return String(error);
  }
}

test(`${REQUESTS} requests of any kind: none is answered 5xx, none hangs, nothing crashes, and memory stays`, {
  timeout: TIMEOUT_MS,
}, async () => {
  const seed = randomInt(2 ** 31);
  let warm = Number.NaN;
  for (let sent = 0; sent < REQUESTS; sent += CHUNK) {
    const raws = Math.round(CHUNK * RAW_SHARE);
    await fire(requests, faultOf, { seed: seed + sent, numRuns: CHUNK - raws });
    await fire(rawRequest(requests), faultOfRaw, { seed: seed + sent, numRuns: raws });
    if (sent + CHUNK === WARM) warm = await residentBytes();
  }
  const last = await residentBytes();
  const answers = JSON.stringify(Object.fromEntries([...seen].sort()));
  expect(headgate.isRunning, `seed ${seed}`).toBe(true);
  expect(last / warm, `seed ${seed}: ${warm} bytes after ${WARM}, ${last} at the end; ${answers}`).toBeLessThan(
    MOST_MEMORY,
  );
  for (const status of [200, 202, 400, 401, 403, 404, 405, 422, 429]) {
    expect(seen.get(status), `so many were answered ${status}, seed ${seed}: ${answers}`).toBeGreaterThan(0);
  }
});

/** Sends them, some at a time. The first that is answered wrongly is made as small as it stays wrong, and printed. */
async function fire<T extends ApiRequest | RawRequest>(
  arbitrary: fc.Arbitrary<T>,
  fault: (request: T) => Promise<string | undefined>,
  run: { readonly seed: number; readonly numRuns: number },
): Promise<void> {
  const property = fc.asyncProperty(arbitrary, async (request) => {
    const found = await fault(request);
    if (found !== undefined) throw new Error(found);
  });
  const all = fc.sample(property, run);
  let next = 0;
  let wrong: { readonly index: number; readonly found: string } | undefined;
  const lane = async (): Promise<void> => {
    for (let index = next++; index < all.length && wrong === undefined; index = next++) {
      const [request] = all[index] ?? [];
      const found = request && (await fault(request));
      if (found !== undefined) wrong ??= { index, found };
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  if (wrong === undefined) return;
  const again = await fc.check(property, {
    seed: run.seed,
    path: String(wrong.index),
    numRuns: 1,
    interruptAfterTimeLimit: SHRINK_MS,
  });
  const smallest = again.counterexample?.[0] ?? all[wrong.index]?.[0];
  const now = again.failed ? String(again.errorInstance) : 'it was not when it was sent again';
  const how = `first ${wrong.found.slice(0, 600)}; then ${now.slice(0, 600)}`;
  const log = headgate.lines.filter((line) => line.includes('"err"')).slice(-1);
  throw new Error(`seed ${run.seed}, request ${wrong.index}: ${how}\n${shown(smallest)}\n${log}`);
}

function shown(request: ApiRequest | RawRequest | undefined): string {
  if (request === undefined || Buffer.isBuffer(request))
    return JSON.stringify(request?.toString('latin1')).slice(0, 2000);
  return JSON.stringify({ ...request, body: request.body?.toString() }).slice(0, 2000);
}

/** What the process has in memory once it has collected its garbage. */
async function residentBytes(): Promise<number> {
  const told = () => headgate.lines.filter((line) => line.startsWith('{"resident":'));
  const before = told().length;
  headgate.signal('SIGUSR2');
  await headgate.until(() => told().length > before, 'it had collected its garbage');
  return JSON.parse(told().at(-1) ?? '').resident;
}
