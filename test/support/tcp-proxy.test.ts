import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startRedis, type TestRedis } from './redis-server.js';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.js';

const PING = '*1\r\n$4\r\nPING\r\n';
const PONG = '+PONG\r\n';

let server: TestRedis;
let proxy: TcpProxy;
const sockets: Socket[] = [];
beforeEach(async () => {
  server = await startRedis();
  proxy = await startTcpProxy(server.socketPath);
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await proxy.stop();
  await server.stop();
});

interface Client {
  readonly socket: Socket;
  /** What it heard so far. */
  heard(): string;
  /** The code of its error, once it was closed. */
  readonly closed: Promise<string | undefined>;
}

async function client(): Promise<Client> {
  const socket = connect(proxy.port, '127.0.0.1');
  sockets.push(socket);
  let heard = '';
  let error: string | undefined;
  socket.on('data', (bytes) => {
    heard += String(bytes);
  });
  socket.on('error', (thrown: NodeJS.ErrnoException) => {
    error = thrown.code;
  });
  // Not events.once: that gives up at an 'error', which is what is asked for here.
  const closed = new Promise<string | undefined>((resolve) => socket.once('close', () => resolve(error)));
  await Promise.race([new Promise((resolve) => socket.once('connect', resolve)), closed]);
  return { socket, heard: () => heard, closed };
}

async function answered(): Promise<Client> {
  const one = await client();
  one.socket.write(PING);
  await expect.poll(one.heard).toBe(PONG);
  return one;
}

const value = (key: string) => server.client().get(key);
const set = (key: string) => `*3\r\n$3\r\nSET\r\n$1\r\n${key}\r\n$1\r\n1\r\n`;

describe('a network', () => {
  test('passes both ways, and counts connections and commands', async () => {
    await answered();
    await answered();
    expect(proxy).toMatchObject({ connections: 2, commands: 2 });
  });

  test('that swallows requests delivers them when it recovers', async () => {
    const one = await answered();
    proxy.swallow('requests');
    one.socket.write(set('a'));
    const other = await client();
    other.socket.write(set('b'));
    await expect.poll(() => proxy.commands).toBe(3);
    expect(await value('a')).toBeNull();
    await proxy.pass();
    await expect.poll(one.heard).toBe(`${PONG}+OK\r\n`);
    await expect.poll(other.heard).toBe('+OK\r\n');
    expect(await value('a')).toBe('1');
  });

  test('that swallows replies carries out what was asked, and says so when it recovers', async () => {
    const one = await answered();
    proxy.swallow('replies');
    one.socket.write(set('a'));
    await expect.poll(() => value('a')).toBe('1');
    expect(one.heard()).toBe(PONG);
    await proxy.pass();
    await expect.poll(one.heard).toBe(`${PONG}+OK\r\n`);
  });

  test('that swallows both ways does nothing of what is asked', async () => {
    const one = await answered();
    proxy.swallow();
    one.socket.write(set('a'));
    await expect.poll(() => proxy.commands).toBe(2);
    expect(await value('a')).toBeNull();
  });

  test('that is slow delays each way, and keeps the order', async () => {
    const one = await answered();
    proxy.delay(100);
    const sentAt = performance.now();
    one.socket.write(set('a'));
    one.socket.write(PING);
    await expect.poll(one.heard).toBe(`${PONG}+OK\r\n${PONG}`);
    expect(performance.now() - sentAt).toBeGreaterThanOrEqual(199);
    await proxy.pass();
    await answered();
  });

  test('that is cut loses what it had under way, and takes new connections', async () => {
    const one = await answered();
    proxy.swallow('replies');
    one.socket.write(set('a'));
    await expect.poll(() => value('a')).toBe('1');
    proxy.cut();
    expect(await one.closed).toBe('ECONNRESET');
    await proxy.pass();
    await answered();
    expect(one.heard()).toBe(PONG);
  });

  test('that forgets a connection does not say so: only a new one is served', async () => {
    const one = await answered();
    proxy.forget();
    one.socket.write(set('a'));
    await answered();
    await proxy.pass();
    await answered();
    expect(one.socket.destroyed).toBe(false);
    expect(one.heard()).toBe(PONG);
    expect(await value('a')).toBeNull();
  });

  test('that resets ends open and new connections with ECONNRESET', async () => {
    const one = await answered();
    proxy.reset();
    expect(await one.closed).toBe('ECONNRESET');
    const two = await client();
    two.socket.write(PING);
    expect(['ECONNRESET', 'EPIPE']).toContain(await two.closed);
    await proxy.pass();
    await answered();
  });

  test('that refuses ends open connections and takes none, until it passes on the same port', async () => {
    const one = await answered();
    const { port } = proxy;
    await proxy.refuse();
    await one.closed;
    expect(await (await client()).closed).toBe('ECONNREFUSED');
    await proxy.pass();
    expect(proxy.port).toBe(port);
    await answered();
  });

  test('ends once, however often it is stopped', async () => {
    const one = await answered();
    await proxy.stop();
    await proxy.stop();
    await one.closed;
  });
});
