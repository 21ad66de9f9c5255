import type { IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { field, textField } from '../referee/json-field.js';
import type { Witness } from '../referee/witness.js';
import type { HeadgateProcess } from '../support/headgate-process.js';
import { Upstream } from '../workers/handlers/http/upstream.js';
import { type RefereedSystem, refereedSystem } from './support/refereed-system.js';

const KEY = 'a-key-of-the-tenant-acme';
const SECRET = 'the-secret-of-the-upstream';

interface Seen {
  readonly atMs: number;
  readonly key: string | undefined;
  readonly body: string;
}

const seen: Seen[] = [];
let upstream: Upstream;
let system: RefereedSystem;
let witness: Witness;
let headgate: HeadgateProcess;

beforeAll(async () => {
  vi.stubEnv('UPSTREAM_KEY', SECRET);
  upstream = await Upstream.start(async (request, response) => {
    const body = await bodyOf(request);
    const isFirst = seen.every((each) => each.body !== body);
    seen.push({ atMs: performance.now(), key: request.headers.authorization, body });
    if (body.includes('busy') && isFirst) {
      response.writeHead(429, { 'retry-after': '1' }).end();
    } else if (body.includes('stream')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end('data: {"t":"hello"}\n\ndata: {"usage":{"total_tokens":3000}}\n\ndata: [DONE]\n\n');
    } else if (body.includes('bad')) {
      response.writeHead(400).end();
    } else {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ text: 'answered', usage: { total_tokens: 2500 } }));
    }
  });
  const { url } = upstream;
  system = await refereedSystem(
    {
      types: {
        chat: {
          handler: 'http',
          attempts: 1,
          options: {
            ...{ url, allowPrivate: true, headers: { authorization: 'Bearer env:UPSTREAM_KEY' } },
            cost: { from: 'usage.total_tokens', per: 1000 },
          },
        },
        inner: { handler: 'http', options: { url } },
        faulty: { handler: 'http', options: { url, headers: { authorization: 'env:SET_NOWHERE' } } },
        beside: { capacity: { concurrency: 2 } },
      },
      tiers: { only: { rate: 'unlimited' } },
      defaultTier: 'only',
      tenants: { acme: { key: KEY } },
    },
    {
      types: [{ type: 'beside', capacity: { concurrency: 2 } }],
      buckets: [],
      otherwise: { ratePerSecond: null },
    },
    { arrivalMs: 1500 },
  );
  headgate = await system.folder.start('start');
  witness = system.witness(headgate.url);
});
afterAll(async () => {
  await system?.end();
  await upstream?.stop();
  vi.unstubAllEnvs();
});

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: string[] = [];
  for await (const piece of request) pieces.push(String(piece));
  return pieces.join('');
}

async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', prefer: 'wait=30' };
  return fetch(`${headgate.url}${path}`, { ...init, headers });
}

/** Submits a job, with others beside it that the referee watches, and waits for its end. */
async function ended(type: string, data: object): Promise<unknown> {
  const jobs = Array.from({ length: 5 }, () => ({ type: 'beside', cost: 1, data: { workMs: 20 } }));
  await witness.enqueueBatch('beside', jobs);
  const response = await ask('/v1/jobs', { method: 'POST', body: JSON.stringify({ type, data }) });
  return response.json();
}

describe('a type whose handler is http, end to end', () => {
  it('completes its jobs with what the upstream answered, at the cost that it named', async () => {
    const job = await ended('chat', { say: 'hello' });
    expect(job).toMatchObject({ state: 'completed', cost: 2.5, result: { text: 'answered' } });
    expect(seen.at(-1)).toMatchObject({ key: `Bearer ${SECRET}`, body: '{"say":"hello"}' });
  });

  it('holds for as long as a busy upstream asks, and uses none of its attempts', async () => {
    const job = await ended('chat', { say: 'busy' });
    expect(job).toMatchObject({ state: 'completed', result: { text: 'answered' } });
    const [first, second, ...more] = seen.filter(({ body }) => body.includes('busy'));
    expect(more).toEqual([]);
    // Timers and clocks of two processes may differ by a little.
    expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThan(950);
  });

  it('lets whoever follows the job read what the upstream streams', async () => {
    const job = await ended('chat', { say: 'stream' });
    expect(job).toMatchObject({ state: 'completed', cost: 3, result: { events: 2 } });
    const events = await (await ask(`/v1/jobs/${textField(job, 'id')}/events`)).text();
    expect(events).toContain('{"t":"hello"}');
    expect(events).not.toContain('[DONE]');
  });

  it('fails for good what the upstream refuses, and what may not be reached', async () => {
    expect(await ended('chat', { say: 'bad' })).toMatchObject({
      ...{ state: 'failed', error: 'the upstream answered 400' },
    });
    const asked = seen.length;
    const inner = await ended('inner', {});
    expect(inner).toMatchObject({ state: 'failed' });
    expect(String(field(inner, 'error'))).toContain('not public');
    expect(seen).toHaveLength(asked);
  });

  it('says at start which option lacks a variable, and never a secret', () => {
    const log = headgate.lines.join('\n');
    expect(log).toContain(
      'types.faulty.options.headers.authorization: expected the environment variable SET_NOWHERE to be set',
    );
    expect(log).not.toContain(SECRET);
  });

  it('leaves a system in which the referee saw nothing that breaks a guarantee', async () => {
    await witness.followToEnds();
    await system.referee.expectNoViolations();
  });
});
