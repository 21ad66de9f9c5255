import { describe, expect, test } from 'vitest';
import { Charges } from '../../workers/charges.js';

/** A way to Redis that lets a cost arrive when it is told to. */
function gated() {
  const open: { cost: number; arrive: () => void; fail: (error: Error) => void }[] = [];
  const send = (cost: number) => new Promise<void>((arrive, fail) => void open.push({ cost, arrive, fail }));
  return { open, charges: new Charges(send) };
}

const settled = (promise: Promise<unknown>) =>
  promise.then(
    () => 'arrived',
    (error: Error) => error.message,
  );

describe('what a handler says of its cost', () => {
  test('arrives one at a time, without what a later word has overtaken', async () => {
    const { open, charges } = gated();
    const all = [1, 2, 3, 4].map((cost) => charges.charge(cost));
    await expect.poll(() => open.map(({ cost }) => cost)).toEqual([4]);
    open[0]?.arrive();
    await Promise.all(all);
    const last = charges.charge(0.001);
    await expect.poll(() => open.map(({ cost }) => cost)).toEqual([4, 0.001]);
    open[1]?.arrive();
    await last;
  });

  test('is waited for at the end; what is said later does not count, and holds nobody up', async () => {
    const { open, charges } = gated();
    void charges.charge(5);
    let ended = false;
    const end = charges.done().then(() => {
      ended = true;
    });
    await expect.poll(() => open.length).toBe(1);
    await charges.charge(6);
    expect(ended).toBe(false);
    open[0]?.arrive();
    await end;
    expect(open).toHaveLength(1);
  });

  test('may fail to arrive: whoever waits is told, nobody else is hurt, and the next one goes its way', async () => {
    const { open, charges } = gated();
    const first = settled(charges.charge(5));
    await expect.poll(() => open.length).toBe(1);
    open[0]?.fail(new Error('refused'));
    expect(await first).toBe('refused');
    const second = settled(charges.charge(6));
    await expect.poll(() => open.length).toBe(2);
    open[1]?.arrive();
    expect(await second).toBe('arrived');
    await charges.done();
  });

  test.each([0, -1, 0.0009, 10_000.5, Number.NaN, Infinity])('is no cost when it is %d', (cost) => {
    const { open, charges } = gated();
    expect(() => charges.charge(cost)).toThrow(
      new TypeError(`charge: expected a cost from 0.001 to 10000 units; got ${cost}`),
    );
    expect(open).toEqual([]);
  });
});
