import { once } from 'node:events';
import type { IncomingMessage, RequestListener } from 'node:http';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { busyUpstream, isUnrecoverable } from '../../../workers/handler.js';
import http from '../../../workers/handlers/http.js';
import { Upstream } from './http/upstream.js';
import { contextFor, jobWith } from './running.js';

afterEach(() => vi.unstubAllEnvs());

async function upstream(listener: RequestListener): Promise<Upstream> {
  const started = await Upstream.start(listener);
  onTestFinished(() => started.stop());
  return started;
}

/** Runs a job against an upstream; what it emitted, charged and came to. */
async function runAgainst(listener: RequestListener, options: object = {}, data: unknown = { a: 1 }) {
  const { url } = await upstream(listener);
  return runWith({ url, allowPrivate: true, ...options }, data);
}

async function runWith(options: Readonly<Record<string, unknown>>, data: unknown = {}, signal?: AbortSignal) {
  const emitted: unknown[] = [];
  const charged: number[] = [];
  const ctx = {
    ...contextFor(signal),
    emit: async (chunk: unknown) => void emitted.push(chunk),
    charge: async (cost: number) => void charged.push(cost),
  };
  const run = (async () => http.run(jobWith({ data, options }), ctx))();
  const { result, error } = await run.then(
    (result) => ({ result, error: undefined }),
    (error: unknown) => ({ result: undefined, error }),
  );
  return { result, error, emitted, charged };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: string[] = [];
  for await (const piece of request) pieces.push(String(piece));
  return pieces.join('');
}

const answering =
  (status: number, headers: Record<string, string> = {}, body = ''): RequestListener =>
  (_, response) =>
    void response.writeHead(status, headers).end(body);

describe('the http handler', () => {
  it('sends the data as JSON, with the headers of the options and secrets from the environment', async () => {
    vi.stubEnv('UPSTREAM_KEY', 's3cret-of-the-upstream');
    const { result } = await runAgainst(
      async (request, response) => {
        const { method, url, headers } = request;
        const body = await bodyOf(request);
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ method, url, key: headers.authorization, type: headers['content-type'], body }));
      },
      { method: 'PUT', headers: { Authorization: 'Bearer env:UPSTREAM_KEY' } },
      { text: 'grüß' },
    );
    expect(result).toEqual({
      ...{ method: 'PUT', url: '/run', key: 'Bearer s3cret-of-the-upstream', type: 'application/json' },
      body: '{"text":"grüß"}',
    });
  });

  it.each([
    ['429 in seconds', 429, { 'retry-after': '7' }, 7000],
    ['503 in seconds', 503, { 'retry-after': '0' }, 0],
    [
      'a date, counted from the answer’s own',
      503,
      { 'retry-after': 'Tue, 01 Dec 2026 00:00:09 GMT', date: 'Tue, 01 Dec 2026 00:00:00 GMT' },
      9000,
    ],
  ])('is busy for Retry-After: %s', async (_, status, headers, ms) => {
    const bucket = await runAgainst(answering(status, headers));
    expect(busyUpstream(bucket.error)).toEqual({ retryAfterMs: ms, scope: 'bucket' });
    const type = await runAgainst(answering(status, headers), { busyScope: 'type' });
    expect(busyUpstream(type.error)).toEqual({ retryAfterMs: ms, scope: 'type' });
  });

  it.each([
    [400, {}, true],
    [404, { 'retry-after': '5' }, true],
    [302, { location: 'http://127.0.0.1:1/' }, true],
    [500, { 'retry-after': '5' }, false],
    [502, {}, false],
    [503, {}, false],
    [429, { 'retry-after': 'soon' }, false],
  ])('%i with %j ends the job for good: %s', async (status, headers, isFinal) => {
    const { error } = await runAgainst(answering(status, headers, 'a text of the upstream'));
    expect(isUnrecoverable(error)).toBe(isFinal);
    expect(busyUpstream(error)).toBeUndefined();
    expect(String(error)).toContain(`the upstream answered ${status}`);
    expect(String(error)).not.toContain('a text of');
  });

  it('follows no redirect', async () => {
    let asked = 0;
    const target = await upstream((_, response) => {
      asked += 1;
      response.end();
    });
    await runAgainst(answering(307, { location: target.url }));
    expect(asked).toBe(0);
  });

  it('hands on each event of a stream, and charges what the last one says', async () => {
    const { result, emitted, charged } = await runAgainst(
      async (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
        for (const piece of ['data: {"t":"a"}\r', '\n\r\nda', 'ta: pl', 'ain\n\n', ': hush\n\n']) {
          await new Promise<void>((resolve) => response.write(piece, () => resolve()));
        }
        response.end('data: {"usage":{"total_tokens":2500}}\n\ndata: [DONE]\n\ndata: cut');
      },
      { cost: { from: 'usage.total_tokens', per: 1000 } },
    );
    expect(emitted).toEqual([{ t: 'a' }, 'plain', { usage: { total_tokens: 2500 } }]);
    expect(result).toEqual({ events: 3, last: { usage: { total_tokens: 2500 } } });
    expect(charged).toEqual([2.5]);
  });

  it('hands on text as it comes, before the answer ends', async () => {
    const first = new EventTarget();
    const { url } = await upstream(async (_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' }).write('one ');
      await once(first, 'seen');
      response.end('two');
    });
    const ctx = { ...contextFor(), emit: async () => void first.dispatchEvent(new Event('seen')) };
    expect(await http.run(jobWith({ options: { url, allowPrivate: true } }), ctx)).toBe('one two');
  });

  it.each([
    ['{"usage":{"total_tokens":0}}', [0.001]],
    ['{"usage":{"total_tokens":1e9}}', [10_000]],
    ['{"usage":{"total_tokens":"9"}}', []],
    ['{"usage":null}', []],
  ])('charges for %s %j', async (body, expected) => {
    const { charged } = await runAgainst(answering(200, { 'content-type': 'application/json' }, body), {
      cost: { from: 'usage.total_tokens' },
    });
    expect(charged).toEqual(expected);
  });

  it('reads no more than it may', async () => {
    const listener = answering(200, {}, 'x'.repeat(101));
    expect((await runAgainst(listener, { maxResponseBytes: 101 })).result).toHaveLength(101);
    const { error } = await runAgainst(listener, { maxResponseBytes: 100 });
    expect(isUnrecoverable(error)).toBe(true);
    expect(String(error)).toContain('more than 100 bytes');
  });

  it('stops when the job is told to stop, and the connection with it', async () => {
    const stop = new AbortController();
    const closed = new Promise<void>((resolve) => {
      void upstream((request) => {
        request.socket.once('close', () => resolve());
        stop.abort(new Error('timed out after 5 ms'));
      }).then(async ({ url }) => {
        const { error } = await runWith({ url, allowPrivate: true }, {}, stop.signal);
        expect(String(error)).toContain('timed out after 5 ms');
      });
    });
    await closed;
  });

  it('tries again when an upstream breaks off or is not there, without telling its address', async () => {
    const broken = await runAgainst((_, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('half');
      response.socket?.destroySoon();
    });
    const gone = await Upstream.start(answering(200));
    const { url } = gone;
    await gone.stop();
    for (const { error } of [broken, await runWith({ url, allowPrivate: true })]) {
      expect(String(error)).toMatch(/could not be reached, or broke off \(ECONN/);
      expect(String(error)).not.toContain('127.0.0.1');
      expect(isUnrecoverable(error)).toBe(false);
    }
  });

  it.each(['127.0.0.1', '2130706433', '[::ffff:127.0.0.1]', 'localhost'])('does not connect to %s', async (host) => {
    let asked = 0;
    const { port } = await upstream((_, response) => {
      asked += 1;
      response.end();
    });
    const { error } = await runWith({ url: `http://${host}:${port}/` });
    expect(isUnrecoverable(error)).toBe(true);
    expect(String(error)).toContain('not public');
    expect(asked).toBe(0);
  });
});
