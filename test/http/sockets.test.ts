import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import type { AppParts } from '../../src/http/app.js';
import { NO_POLICIES } from '../../src/http/policed-parts.js';
import { LIMITED, scriptedPolicing } from './support/scripted-policing.js';
import { scriptedShaping } from './support/scripted-shaping.js';
import { type TestApp, testApp } from './support/test-app.js';
import { KEYS } from './support/test-config.js';

const opened: { app: TestApp['app']; sockets: Socket[] }[] = [];
afterEach(async () => {
  for (const { app, sockets } of opened.splice(0)) {
    for (const socket of sockets) socket.destroy();
    await app.close();
  }
});

const SLOW = { headersTimeoutMs: 200, requestTimeoutMs: 300, timeoutCheckMs: 20 };

/** A real server on loopback, and a way to say to it exactly what a test wants to say. */
async function listening(parts: Partial<AppParts> = {}) {
  const { app, logged } = await testApp(parts);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const sockets: Socket[] = [];
  opened.push({ app, sockets });
  const address = app.server.address();
  if (address === null || typeof address === 'string') throw new Error('the app does not listen on a port');
  const dial = async () => {
    const socket = connect(address.port, '127.0.0.1');
    sockets.push(socket);
    await once(socket, 'connect');
    return new Wire(socket);
  };
  return { app, logged, dial };
}

test('a server that closes does not wait for a connection on which nothing was asked', async () => {
  const { app, dial } = await listening();
  const wire = await dial();
  await expect
    .poll(() => new Promise((resolve) => app.server.getConnections((_error, count) => resolve(count))))
    .toBe(1);
  await app.close();
  expect(await wire.untilClosed()).toBe('');
});

/** One connection: what was heard on it so far. */
class Wire {
  readonly #socket: Socket;
  #heard = '';

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#heard += chunk.toString();
    });
    // A reset is one of the ways in which a server may hang up.
    socket.on('error', () => undefined);
  }

  say(text: string): this {
    this.#socket.write(text);
    return this;
  }

  /** Everything that was answered until the server hung up. */
  async untilClosed(): Promise<string> {
    if (!this.#socket.closed) await once(this.#socket, 'close');
    return this.#heard;
  }

  async hears(pattern: RegExp): Promise<string> {
    await expect.poll(() => this.#heard).toMatch(pattern);
    return this.#heard;
  }
}

const HEAD = `POST /v1/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEYS.acme}\r\nContent-Type: application/json\r\n`;
const JOB = '{"type":"chat","data":{}}';

/** The problem document in a raw answer. */
function problemOf(answer: string): Record<string, unknown> {
  expect(answer).toContain('application/problem+json');
  return JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4));
}

const NO_KEY = 'POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';

test.each(['Content-Length: 99000000', 'Transfer-Encoding: chunked'])(
  'a request without a key is refused before its body has come, and cut off: %s',
  async (length) => {
    const { dial } = await listening();
    const answer = await (await dial()).say(`${NO_KEY}${length}\r\n\r\n`).untilClosed();
    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
    expect(problemOf(answer)).toMatchObject({ code: 'missing_key' });
  },
);

test('a request without a key and with a body of ordinary length keeps its connection', async () => {
  const { dial } = await listening();
  const wire = (await dial()).say(`${NO_KEY}Content-Length: 100000\r\n\r\n`);
  await wire.hears(/missing_key/);
  wire.say('x'.repeat(100_000)).say('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
  await wire.hears(/alive/);
});

test('a body announced as too large is refused before it has come', async () => {
  const { dial } = await listening();
  const answer = await (await dial()).say(`${HEAD}Content-Length: 99000000\r\n\r\n{`).untilClosed();
  expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  expect(problemOf(answer)).toMatchObject({ code: 'body_too_large', field: 'body' });
});

test('a body that turns out too large is refused when it does', async () => {
  const { dial } = await listening();
  const wire = (await dial()).say(`${HEAD}Transfer-Encoding: chunked\r\n\r\n`);
  const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
  for (let sent = 0; sent < 20; sent += 1) wire.say(chunk);
  expect(problemOf(await wire.untilClosed())).toMatchObject({ status: 413, code: 'body_too_large' });
});

test('a body that does not come in time is given up, and nothing was admitted', async () => {
  const { shaping, admits } = scriptedShaping();
  const { dial, logged } = await listening({ shaping, limits: SLOW });
  const answer = await (await dial())
    .say(`${HEAD}Content-Length: ${JOB.length}\r\n\r\n${JOB.slice(0, 9)}`)
    .untilClosed();
  expect(problemOf(answer)).toMatchObject({ status: 408, code: 'request_timeout' });
  expect(admits).toEqual([]);
  expect(logged).toEqual([]);
});

test('headers that do not come in time are given up', async () => {
  const { dial } = await listening({ limits: SLOW });
  expect(problemOf(await (await dial()).say(`${HEAD}X-Slow: `).untilClosed())).toMatchObject({
    code: 'request_timeout',
  });
});

test('a connection that says nothing is given up', async () => {
  const { dial } = await listening({ limits: SLOW });
  expect(problemOf(await (await dial()).untilClosed())).toMatchObject({ code: 'request_timeout' });
});

test('one slow caller keeps nobody else waiting', async () => {
  const { dial } = await listening();
  (await dial()).say(`${HEAD}Content-Length: ${JOB.length}\r\n\r\n{`);
  const answer = await (await dial()).say(`${HEAD}Content-Length: ${JOB.length}\r\n\r\n${JOB}`).hears(/"basis":"rate"/);
  expect(answer).toMatch(/^HTTP\/1\.1 202 /);
});

test('headers too large together are refused', async () => {
  const { dial } = await listening();
  const answer = await (await dial()).say(`${HEAD}X-Big: ${'x'.repeat(17_000)}\r\n\r\n`).untilClosed();
  expect(problemOf(answer)).toMatchObject({ status: 431, code: 'headers_too_large' });
});

test('headers too many are refused and not dropped without a word', async () => {
  const { dial } = await listening();
  const flood = Array.from({ length: 2100 }, (_, index) => `a${index % 9}:b\r\n`).join('');
  const wire = (await dial()).say(`GET /healthz HTTP/1.1\r\nHost: x\r\n${flood}\r\n`);
  expect(problemOf(await wire.hears(/at most 100 headers."}/))).toMatchObject({
    status: 431,
    code: 'headers_too_large',
  });
});

test.each([
  ['NONSENSE\r\n\r\n', 'request'],
  ['GET /healthz HTTP/1.1\r\n\r\n', 'Host'],
  ['GET /healthz HTTP/1.1\r\nHost: x\r\nBad Header: 1\r\n\r\n', 'request'],
  [`${HEAD}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 'request'],
  [`${HEAD}Content-Length: abc\r\n\r\n`, 'request'],
  [`${HEAD}Transfer-Encoding: chunked\r\n\r\nzz\r\n`, 'request'],
])('%j is no request, and is answered 400', async (bytes, field) => {
  const { dial } = await listening();
  const answer = await (await dial()).say(bytes).hears(/\}$/);
  expect(problemOf(answer)).toMatchObject({ status: 400, code: 'malformed_request', field });
});

test('an expectation other than 100-continue is answered 417', async () => {
  const { dial } = await listening();
  const answer = await (await dial()).say(`${HEAD}Expect: a-pony\r\nContent-Length: 2\r\n\r\n`).untilClosed();
  expect(problemOf(answer)).toMatchObject({ status: 417, code: 'expectation_failed', field: 'Expect' });
});

test('a body that is not JSON costs the caller its request and not its connection', async () => {
  const { dial } = await listening();
  const wire = await dial();
  wire.say(`${HEAD}Content-Length: 1\r\n\r\n{`);
  await wire.hears(/malformed_body/);
  wire.say(`${HEAD}Content-Length: ${JOB.length}\r\n\r\n${JOB}`);
  await wire.hears(/202 Accepted/);
});

test('a caller that leaves in the middle of its body leaves no trace', async () => {
  const { shaping, admits } = scriptedShaping();
  const { dial, app, logged } = await listening({ shaping });
  const wire = (await dial()).say(`${HEAD}Content-Length: 500\r\n\r\n{`);
  const gone = once(app.server, 'connection');
  await dial();
  await gone;
  opened.at(-1)?.sockets[0]?.destroy();
  await wire.untilClosed();
  await expect.poll(() => connections(app)).toBe(1);
  expect(admits).toEqual([]);
  expect(logged).toEqual([]);
});

test('while the app closes, a request that is under way is answered', async () => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { dial, app } = await listening({
    ready: async () => {
      await held;
      return { ready: true, checks: {} };
    },
  });
  const wire = (await dial()).say('GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n');
  await expect.poll(() => connections(app)).toBe(1);
  const closed = app.close();
  release();
  expect(await wire.untilClosed()).toMatch(/^HTTP\/1\.1 200 [\s\S]*"status":"ready"/);
  await closed;
});

describe('a gateway that forwards what its client said', () => {
  const asking = (method: string) =>
    `${method} /v1/forward-auth?policy=api HTTP/1.1\r\nHost: x\r\nX-Headgate-Gateway-Key: ${KEYS.gateway}\r\n`;
  const limited = () => listening({ policed: { ...NO_POLICIES, policing: scriptedPolicing(LIMITED).policing } });

  test.each(['Content-Length: 500', 'Content-Length: 99000000', 'Transfer-Encoding: chunked'])(
    'without the body is answered at once, and the connection is not used again: %s',
    async (length) => {
      const { dial } = await limited();
      const answer = await (await dial()).say(`${asking('POST')}${length}\r\n\r\n`).untilClosed();
      expect(answer).toMatch(/^HTTP\/1\.1 429 /);
      expect(answer).toMatch(/connection: close/i);
      expect(answer).toMatch(/ratelimit: "burst";r=0;t=1/i);
    },
  );

  test.each(['PROPFIND', 'PURGE', 'TRACE', 'M-SEARCH', 'QUERY'])(
    'is answered whatever the method: %s',
    async (method) => {
      const { dial } = await limited();
      const wire = (await dial()).say(`${asking(method)}\r\n`);
      await wire.hears(/429 Too Many Requests[\s\S]*\}$/);
      wire.say('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
      await wire.hears(/alive/);
    },
  );

  test.each(['X-Headgate-Subject', 'X-Headgate-Tier', 'X-Original-URI', 'X-Forwarded-Method'])(
    'and adds to it is answered 400: %s twice',
    async (name) => {
      const { dial } = await limited();
      const query = name.startsWith('X-Headgate') ? '?policy=api' : '';
      const head = asking('GET').replace('?policy=api', query);
      const wire = (await dial()).say(`${head}${name}: /theirs\r\n${name.toLowerCase()}: /ours\r\n\r\n`);
      expect(problemOf(await wire.hears(/\}$/))).toMatchObject({ status: 400, code: 'invalid_field', field: name });
    },
  );
});

function connections(app: TestApp['app']): Promise<number> {
  return new Promise((resolve, reject) => {
    app.server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
  });
}
