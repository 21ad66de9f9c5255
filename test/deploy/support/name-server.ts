import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** A DNS server on loopback that knows one name. Stands in for the one that Docker gives to containers. */
export interface NameServer {
  readonly port: number;
  /** How often it has been asked for an address. */
  readonly asked: () => number;
  /** From now on the name has these addresses. */
  set(addresses: readonly string[]): void;
  close(): Promise<void>;
}

/** Answers questions for IPv4 addresses (RFC 1035) of `name`, each address for a second; of others there is none. */
export async function startNameServer(name: string): Promise<NameServer> {
  let addresses: readonly string[] = [];
  let asked = 0;
  const socket = createSocket('udp4');
  socket.on('message', (question, { port, address }) => {
    asked += 1;
    socket.send(answerTo(question, nameIn(question) === name ? addresses : undefined), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    port: socket.address().port,
    asked: () => asked,
    set(now) {
      addresses = now;
    },
    async close() {
      socket.close();
      await once(socket, 'close');
    },
  };
}

const HEAD_BYTES = 12;

/** Labels, each after its length, until one of length 0. */
function nameIn(question: Buffer): string {
  const labels: string[] = [];
  let at = HEAD_BYTES;
  for (let length = question.readUInt8(at); length > 0; length = question.readUInt8(at)) {
    labels.push(question.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return labels.join('.');
}

/** @param addresses undefined: there is no such name */
function answerTo(question: Buffer, addresses: readonly string[] | undefined): Buffer {
  const end = question.indexOf(0, HEAD_BYTES) + 5;
  const head = Buffer.from(question.subarray(0, HEAD_BYTES));
  // An answer, recursion available; 3 is NXDOMAIN.
  head.writeUInt16BE(addresses === undefined ? 0x8183 : 0x8180, 2);
  head.writeUInt16BE(addresses?.length ?? 0, 6);
  head.writeUInt32BE(0, 8);
  return Buffer.concat([head, question.subarray(HEAD_BYTES, end), ...(addresses ?? []).map(recordOf)]);
}

/** A record of type A: the name as in the question, class IN, one second, four bytes. */
function recordOf(address: string): Buffer {
  return Buffer.from([0xc0, HEAD_BYTES, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, ...address.split('.').map(Number)]);
}
