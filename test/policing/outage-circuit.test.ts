import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Circuit, isOutage, type Pass } from '../../src/policing/circuit.js';
import { Late } from '../../src/policing/deadline.js';
import { RedisUnavailable } from '../../src/redis/outage.js';

const late = new Late(30);
const refused = new Error('Connection is closed.');

/** A circuit under an explicit clock; without jitter unless given some. */
class Bench {
  nowMs = 0;
  readonly circuit: Circuit;

  constructor(random = () => 0.5) {
    this.circuit = new Circuit({ now: () => this.nowMs, random });
  }

  admit(): Pass {
    const pass = this.circuit.admit();
    if (pass === undefined) throw new Error('nobody may ask');
    return pass;
  }

  open(): this {
    this.circuit.failed(this.admit(), refused);
    return this;
  }

  /** Waits for the next probe; how long that took, in whole milliseconds. */
  probe(): { readonly pass: Pass; readonly pauseMs: number } {
    const since = this.nowMs;
    for (;;) {
      const pass = this.circuit.admit();
      if (pass !== undefined) return { pass, pauseMs: this.nowMs - since };
      this.nowMs += 1;
    }
  }
}

describe('a circuit', () => {
  test('lets every call ask while Redis answers', () => {
    const bench = new Bench();
    for (let i = 0; i < 100; i += 1) {
      bench.admit();
      bench.circuit.answered();
    }
    expect(bench.circuit.isOpen).toBe(false);
  });

  test('opens at once when Redis refuses or cannot be reached', () => {
    const { circuit } = new Bench().open();
    expect([circuit.isOpen, circuit.admit()]).toEqual([true, undefined]);
  });

  test('opens at the third late answer in a row, not where one in time was between them', () => {
    const bench = new Bench();
    for (const answer of ['late', 'late', 'in time', 'late', 'late']) {
      const pass = bench.admit();
      if (answer === 'late') bench.circuit.failed(pass, late);
      else bench.circuit.answered();
    }
    expect(bench.circuit.isOpen).toBe(false);
    bench.circuit.failed(bench.admit(), late);
    expect(bench.circuit.isOpen).toBe(true);
  });

  test('lets a single probe through, however long that takes', () => {
    const bench = new Bench().open();
    bench.nowMs += 100;
    const passes = Array.from({ length: 5 }, () => bench.circuit.admit());
    expect(passes.filter((pass) => pass !== undefined)).toHaveLength(1);
    bench.nowMs += 3_600_000;
    expect(bench.circuit.admit()).toBeUndefined();
  });

  test('waits twice as long after each probe that fails, at most a second', () => {
    const bench = new Bench().open();
    const pauses: number[] = [];
    for (let probes = 0; probes < 6; probes += 1) {
      const { pass, pauseMs } = bench.probe();
      pauses.push(pauseMs);
      bench.circuit.failed(pass, late);
    }
    expect(pauses).toEqual([100, 200, 400, 800, 1000, 1000]);
  });

  test('begins with the shortest pause in every outage', () => {
    const bench = new Bench().open();
    for (let probes = 0; probes < 4; probes += 1) bench.circuit.failed(bench.probe().pass, late);
    bench.probe();
    bench.circuit.answered();
    expect(bench.open().probe().pauseMs).toBe(100);
  });

  test('closes at an answer, that of a probe or of a call that was under way', () => {
    for (const probes of [true, false]) {
      const bench = new Bench();
      bench.admit();
      bench.open();
      if (probes) bench.probe();
      bench.circuit.answered();
      expect([bench.circuit.isOpen, bench.circuit.admit()]).toEqual([false, expect.anything()]);
    }
  });

  test('does not put the probe off for calls that were under way and fail after it opened', () => {
    const bench = new Bench();
    const underWay = [bench.admit(), bench.admit(), bench.admit()];
    bench.open();
    bench.nowMs += 90;
    for (const pass of underWay) bench.circuit.failed(pass, refused);
    bench.nowMs += 10;
    expect(bench.circuit.admit()).toBeDefined();
  });

  test('does not take the probe of an earlier outage for one of this', () => {
    const bench = new Bench().open();
    const earlier = bench.probe().pass;
    bench.circuit.answered();
    bench.open();
    bench.probe();
    bench.circuit.failed(earlier, late);
    bench.circuit.unused(earlier);
    expect(bench.circuit.admit()).toBeUndefined();
  });

  test('lets another probe through at once where one was not used', () => {
    const bench = new Bench().open();
    bench.circuit.unused(bench.probe().pass);
    expect(bench.probe().pauseMs).toBe(0);
  });

  test('sends few probes in an outage, whoever calls how often', () => {
    const unit = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    const waits = fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 1, maxLength: 500 });
    fc.assert(
      fc.property(unit, waits, (random, gaps) => {
        const bench = new Bench(() => random).open();
        let probes = 0;
        for (const gap of gaps) {
          bench.nowMs += gap;
          const pass = bench.circuit.admit();
          if (pass === undefined) continue;
          probes += 1;
          bench.circuit.failed(pass, late);
        }
        // Pauses of 75, 150, 300, 600 and then 750 milliseconds at least.
        expect(probes).toBeLessThanOrEqual(4 + bench.nowMs / 750);
      }),
    );
  });
});

test.each([
  ['a late answer', late, true],
  ['a broken connection', refused, true],
  ['a full Redis', new Error("OOM command not allowed when used memory > 'maxmemory'."), true],
  ['a replica', new Error("READONLY You can't write against a read only replica."), true],
  ['a Redis that starts', new Error('LOADING Redis is loading the dataset in memory'), true],
  ['what was found unavailable elsewhere', new RedisUnavailable('Redis is not available'), true],
  ['a key of another kind', new Error('WRONGTYPE Operation against a key holding the wrong kind of value'), false],
  ['a mistake of ours', new TypeError('x is not a function'), false],
  ['no error at all', 'OOM', false],
])('%s is an outage: %#', (_, error, expected) => expect(isOutage(error)).toBe(expected));
