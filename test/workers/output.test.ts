import { describe, expect, test } from 'vitest';
import { Output } from '../../workers/output.js';

/** A way to Redis that lets a batch arrive when it is told to; `at once` when it is not. */
function gated({ atOnce = false } = {}) {
  const open: { first: number; chunks: readonly string[]; arrive: () => void; fail: (error: Error) => void }[] = [];
  const output = new Output(
    (first, chunks) =>
      new Promise<void>((arrive, fail) => {
        open.push({ first, chunks, arrive, fail });
        if (atOnce) arrive();
      }),
  );
  return { open, output, sent: () => open.map(({ first, chunks }) => [first, ...chunks]) };
}

describe('what a handler emits', () => {
  test('goes together, texts that follow one another as one chunk', async () => {
    const { output, sent } = gated({ atOnce: true });
    for (const chunk of ['a', 'ü', { n: 1 }, 'b', 7, null, '']) await output.emit(chunk);
    await output.done();
    expect(sent()).toEqual([[1, '"aü"', '{"n":1}', '"b"', '7', 'null', '""']]);
  });

  test('is sent one batch at a time, numbered through', async () => {
    const { open, output, sent } = gated();
    void output.emit('a');
    void output.emit(1);
    await expect.poll(sent).toEqual([[1, '"a"', '1']]);
    void output.emit('b');
    void output.emit('c');
    const end = output.done();
    open[0]?.arrive();
    await expect.poll(sent).toEqual([
      [1, '"a"', '1'],
      [3, '"bc"'],
    ]);
    open[1]?.arrive();
    await end;
  });

  test('does not hold its handler up until much is on its way', async () => {
    const { open, output } = gated();
    const text = 'x'.repeat(60_000);
    await output.emit(text);
    let arrived = false;
    const second = output.emit(text).then(() => {
      arrived = true;
    });
    await expect.poll(() => open.length).toBe(1);
    expect(arrived).toBe(false);
    open[0]?.arrive();
    await second;
  });

  test('ends the run’s output where it could not be brought, and throws at nobody who does not wait', async () => {
    const { open, output } = gated();
    void output.emit('a');
    await expect.poll(() => open.length).toBe(1);
    open[0]?.fail(new Error('no'));
    await output.done();
  });

  test('is at most 64 KB at once and 1 MB in all, and the handler is told', async () => {
    const { output } = gated({ atOnce: true });
    expect(() => output.emit('x'.repeat(65_535))).toThrow('emit: 65537 bytes of JSON in one chunk, at most 65536');
    const chunk = { text: 'x'.repeat(60_000) };
    for (let i = 0; i < 17; i += 1) await output.emit(chunk);
    expect(() => output.emit(chunk)).toThrow('emit: the output of a run has at most 1048576 bytes');
    await output.emit('still fits');
    await output.done();
  });

  test('of nothing but empty values ends all the same', () => {
    const { output } = gated({ atOnce: true });
    let count = 0;
    expect(() => {
      for (; count < 200_000; count += 1) void output.emit(0);
    }).toThrow('at most 1048576 bytes');
    expect(count).toBeGreaterThan(10_000);
  });

  const circular: Record<string, unknown> = {};
  circular.self = circular;
  test.each([
    ['nothing', undefined, 'emit: expected text or a JSON value; got undefined'],
    ['a function', () => 1, 'emit: expected text or a JSON value; got function'],
    ['a bigint', 1n, 'emit: Do not know how to serialize a BigInt'],
    ['a circle', circular, 'emit: Converting circular structure to JSON'],
  ])('cannot be %s', (_, chunk, message) => {
    expect(() => gated().output.emit(chunk)).toThrow(message);
  });
});
