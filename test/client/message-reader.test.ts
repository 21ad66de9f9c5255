import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MessageReader } from '../../src/client/message-reader.js';

const STREAM = [
  'retry: 2000\n\n:\n\nevent: state\ndata: {"a":1}\n\n',
  'event: output\nid: 1-1\ndata: {"run":1,\ndata: "chunk":"é"}\n\n',
  'data\r\n\r\nid: 1-2\rdata:x\r\r\nevent: lost\n\nevent: end\nid: end\ndata: {}\n\nevent: cut off\ndata: y\n',
].join('');
const MESSAGES = [
  { event: 'state', data: '{"a":1}', id: '' },
  { event: 'output', data: '{"run":1,\n"chunk":"é"}', id: '1-1' },
  { event: 'message', data: '', id: '1-1' },
  { event: 'message', data: 'x', id: '1-2' },
  { event: 'end', data: '{}', id: 'end' },
];

test('a stream is read the same however it is cut into pieces', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: STREAM.length }), { maxLength: 30 }), (cuts) => {
      const at = [0, ...cuts.toSorted((a, b) => a - b), STREAM.length];
      const reader = new MessageReader();
      const pieces = at.slice(1).map((end, i) => STREAM.slice(at[i], end));
      expect(pieces.flatMap((piece) => reader.read(piece))).toEqual(MESSAGES);
      expect(reader.retryMs).toBe(2000);
    }),
  );
});
