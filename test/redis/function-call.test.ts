import fc from 'fast-check';
import { Command } from 'ioredis';
import { expect, test } from 'vitest';
import { type Argument, FunctionCall } from '../../src/redis/function-call.js';

const argument = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.double({ noNaN: true }),
  fc.integer(),
  fc.uint8Array().map((bytes) => Buffer.from(bytes)),
);

const bytesOf = (command: Command): Buffer => Buffer.from(command.toWritable({}));
const byClient = (keys: readonly string[], argv: readonly Argument[]) =>
  bytesOf(new Command('fcall', ['verb', keys.length, ...keys, ...argv]));

test('a call is written down byte for byte as the client would write it', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' })), fc.array(argument), (keys, argv) => {
      expect(bytesOf(new FunctionCall('verb', keys, argv)).equals(byClient(keys, argv))).toBe(true);
    }),
  );
});

test.each<[what: string, argv: Argument[]]>([
  ['nothing binary', ['é', '', 1.5, -0, 1e21]],
  ['bytes that are no text', [Buffer.of(0, 255, 13, 10), 'é', Buffer.alloc(0), 'b', Buffer.of(36)]],
  ['bytes at the end', ['a', Buffer.of(200)]],
  ['hundreds of arguments', Array.from({ length: 900 }, (_, i) => (i % 18 === 0 ? Buffer.alloc(80, i) : `é${i}`))],
])('%s', (_, argv) => {
  expect(bytesOf(new FunctionCall('verb', ['{a}:key'], argv))).toEqual(byClient(['{a}:key'], argv));
});

test('on a cluster it goes to the slot of its keys', () => {
  expect(new FunctionCall('verb', ['{a}:one', '{a}:two'], ['x']).getSlot()).toBe(
    new Command('get', ['{a}:one']).getSlot(),
  );
});
