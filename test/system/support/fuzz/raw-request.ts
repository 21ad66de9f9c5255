import { connect } from 'node:net';
import fc from 'fast-check';
import type { ApiRequest } from '../../../http/support/ask.js';

/** Bytes that ought to be a request. */
export type RawRequest = Buffer;

const TOKENS = [
  ...['\r\n', '\r\n\r\n', '\n', '\r', '\0', ' ', ':', '\xff', 'HTTP/1.1', ' HTTP/9.9\r\n', 'PRI * HTTP/2.0\r\n\r\n'],
  ...['Transfer-Encoding: chunked\r\n', 'Content-Length: -1\r\n', 'Content-Length: 99\r\n', 'Content-Length: 1\r\n'],
  ...['Expect: 100-continue\r\n', 'Connection: upgrade\r\nUpgrade: websocket\r\n', 'Host: a\r\nHost: b\r\n'],
  ...['ffffffffffffffff\r\n', '0\r\n\r\n', 'x: '.padEnd(20_000, 'x'), 'a: b\r\n'.repeat(150)],
];

interface Change {
  /** Where, as a part of the whole. */
  readonly at: number;
  readonly cut: number;
  readonly insert: string;
}

const change: fc.Arbitrary<Change> = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  cut: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 60 })),
  insert: fc.oneof(
    fc.constantFrom(...TOKENS),
    fc.uint8Array({ maxLength: 4 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
  ),
});

/** A request as it is written, with some of its bytes cut out, and others put in. */
export function rawRequest(sound: fc.Arbitrary<ApiRequest>): fc.Arbitrary<RawRequest> {
  return fc.tuple(sound, fc.array(change, { maxLength: 3 })).map(([request, changes]) => {
    const text = changes.reduce((all, { at, cut, insert }) => {
      const place = Math.floor(all.length * at);
      return all.slice(0, place) + insert + all.slice(place + cut);
    }, written(request));
    return Buffer.from(text, 'latin1');
  });
}

function written({ method, url, headers, body }: ApiRequest): string {
  const content = Buffer.from(body ?? '').toString('latin1');
  const lines = Object.entries({ host: 'localhost', ...headers }).map(([name, value]) => `${name}: ${value}`);
  const framing = body === undefined ? [] : [`content-length: ${content.length}`];
  return [`${method} ${url} HTTP/1.1`, ...lines, ...framing, 'connection: close', '', content].join('\r\n');
}

/** Whoever waits for the rest of a request hears that there is none, once so many milliseconds brought no answer. */
const PATIENCE_MS = 50;

/**
 * Sends bytes and resolves with the statuses that were answered, none where the connection was just closed.
 *
 * @throws when it is open still after `deadlineMs`.
 */
export async function sendRaw(port: number, bytes: RawRequest, deadlineMs: number): Promise<readonly number[]> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' });
    let answer = '';
    const deadline = setTimeout(() => socket.destroy(new Error(`open after ${deadlineMs} ms`)), deadlineMs);
    const patience = setTimeout(() => socket.end(), PATIENCE_MS);
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1');
      // A stream goes on; and a connection that is kept waits for the next request.
      if (answer.includes('text/event-stream')) socket.destroy();
      else socket.end();
    });
    socket.once('error', (error) => {
      // The server may close while the rest is on its way.
      if ('code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE')) return;
      reject(error);
    });
    socket.once('close', () => {
      clearTimeout(deadline);
      clearTimeout(patience);
      resolve([...answer.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map(([, status]) => Number(status)));
    });
    socket.write(bytes);
  });
}
