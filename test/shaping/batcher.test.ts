import { describe, expect, test } from 'vitest';
import { Batcher } from '../../src/shaping/batcher.js';

/** Batches that were sent and wait for the test to answer them. */
function sent() {
  const batches: { items: readonly number[]; answer: () => void; fail: (error: Error) => void }[] = [];
  const send = (items: readonly number[]): Promise<PromiseSettledResult<string>[]> =>
    new Promise((resolve, reject) => {
      const answer = () => resolve(items.map((item) => ({ status: 'fulfilled' as const, value: `answer ${item}` })));
      batches.push({ items, answer, fail: reject });
    });
  return { batches, send };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a batcher', () => {
  test('sends what comes in one turn of the event loop together, and gives each its own answer', async () => {
    const { batches, send } = sent();
    const batcher = new Batcher(send, { maxWeight: 8, maxUnderWay: 2 });
    const answers = Promise.all([1, 2, 3].map((item) => batcher.add(item)));
    await turn();
    expect(batches.map(({ items }) => items)).toEqual([[1, 2, 3]]);
    batches[0]?.answer();
    expect(await answers).toEqual(['answer 1', 'answer 2', 'answer 3']);
  });

  test('sends at most so many together and so many batches at once; the rest goes when one is back', async () => {
    const { batches, send } = sent();
    const batcher = new Batcher(send, { maxWeight: 2, maxUnderWay: 2 });
    const answers = Promise.all([1, 2, 3, 4, 5].map((item) => batcher.add(item)));
    await turn();
    await turn();
    await turn();
    expect(batches.map(({ items }) => items)).toEqual([
      [1, 2],
      [3, 4],
    ]);
    batches[1]?.answer();
    await turn();
    await turn();
    expect(batches[2]?.items).toEqual([5]);
    batches[0]?.answer();
    batches[2]?.answer();
    expect(await answers).toHaveLength(5);
  });

  test('lets no more weight go together than it may, but an item that weighs more alone', async () => {
    const { batches, send } = sent();
    const batcher = new Batcher(send, { maxWeight: 10, maxUnderWay: Infinity });
    const answers = Promise.all([6, 6, 4, 25, 1].map((weight) => batcher.add(weight, weight)));
    await turn();
    expect(batches.map(({ items }) => items)).toEqual([[6], [6, 4], [25], [1]]);
    for (const { answer } of batches) answer();
    expect(await answers).toHaveLength(5);
  });

  test('sends a full batch before it hands out the answers to the last', async () => {
    const { batches, send } = sent();
    const batcher = new Batcher(send, { maxWeight: 2, maxUnderWay: 1 });
    const heard = batcher.add(1).then(() => batches.length);
    const rest = Promise.all([2, 3, 4, 5].map((item) => batcher.add(item)));
    expect(batches.map(({ items }) => items)).toEqual([[1, 2]]);
    batches[0]?.answer();
    expect(await heard).toBe(2);
    expect(batches[1]?.items).toEqual([3, 4]);
    batches[1]?.answer();
    await expect.poll(() => batches[2]?.items).toEqual([5]);
    batches[2]?.answer();
    await rest;
  });

  test('tells all of a batch that failed, and goes on', async () => {
    const { batches, send } = sent();
    const batcher = new Batcher(send, { maxWeight: 8, maxUnderWay: 1 });
    const failing = Promise.allSettled([batcher.add(1), batcher.add(2)]);
    await turn();
    const next = batcher.add(3);
    batches[0]?.fail(new Error('away'));
    expect((await failing).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await turn();
    batches[1]?.answer();
    expect(await next).toBe('answer 3');
  });

  test('passes on what came of each item', async () => {
    const batcher = new Batcher(
      (items: readonly number[]) =>
        Promise.allSettled(items.map((item) => (item === 2 ? Promise.reject(new Error('not this one')) : item))),
      { maxWeight: 8, maxUnderWay: 1 },
    );
    const results = await Promise.allSettled([1, 2, 3].map((item) => batcher.add(item)));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });
});
