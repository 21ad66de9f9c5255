import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { entitlements, readEntitlements } from '../../bench/demo/contracts.js';
import { readFlags } from '../../bench/demo/flags.js';
import { offeredLoad } from '../../bench/demo/load.js';
import { linkedTo, pace, repeat } from '../../bench/demo/pace.js';
import { urlOfReadyLine } from '../../bench/demo/running-system.js';
import { completionsPerSecond } from '../../bench/demo/service-rate.js';
import { TerminalDisplay } from '../../bench/demo/terminal-display.js';
import { job } from './jobs.js';

describe('the flags', () => {
  it.each([
    [[], { seconds: 60 }],
    [['--seconds', '20', '--json', 'out.json'], { seconds: 20, jsonFile: 'out.json' }],
  ])('%j', (args, flags) => {
    expect(readFlags(args)).toEqual(flags);
  });

  it.each([
    [['--seconds', '5']],
    [['--seconds', 'x']],
    [['--seconds', '1e9']],
    [['--seconds=']],
    [['--json=']],
    [['--fast']],
    [['more']],
  ])('refuses %j', (args) => {
    expect(readFlags(args)).toHaveProperty('fault', expect.stringMatching(/./));
  });
});

describe('what the configuration entitles to', () => {
  it("is read from the demo's own file", async () => {
    expect(await readEntitlements(resolve('bench/demo/headgate.yaml'))).toEqual([
      { tenant: 'gold', weight: 4, ratePerSecond: 0.5 },
      { tenant: 'silver', weight: 2, ratePerSecond: Number.POSITIVE_INFINITY },
      { tenant: 'flood', weight: 1, ratePerSecond: Number.POSITIVE_INFINITY },
      { tenant: 'calibration', weight: 2, ratePerSecond: Number.POSITIVE_INFINITY },
    ]);
  });

  it.each([
    ['', /no `tenants`/],
    ['tenants: { a: { tier: t } }', /no `tiers`/],
    ['{ tenants: { a: {} }, tiers: { t: { rate: 1/s, weight: 1 } } }', /every tenant needs a `tier`/],
    ['{ tenants: { a: { tier: t } }, tiers: { t: { rate: 1/s } } }', /needs a `weight`/],
    ['{ tenants: { a: { tier: t } }, tiers: { t: { weight: 1 } } }', /needs a `rate`/],
    ['{ tenants: { a: { tier: t } }, tiers: { t: { rate: 1/m, weight: 1 } } }', /not 1\/m/],
  ])('is refused from %j', (text, message) => {
    expect(() => entitlements(text)).toThrow(message);
  });
});

describe('the load', () => {
  it.each([1.5, 3.3, 12, 100])(
    'is three times a service rate of %d/s or more, most of it from the flood',
    (serviceRate) => {
      const { gold, silver, flood } = offeredLoad(serviceRate, 1);
      expect(gold + silver + flood).toBeGreaterThanOrEqual(3 * serviceRate - 1e-9);
      expect(flood).toBeGreaterThanOrEqual(silver);
    },
  );
});

describe('a linked controller', () => {
  it('aborts with the signal and for its reason, and by itself without touching it', () => {
    const outer = new AbortController();
    const inner = linkedTo(outer.signal);
    const early = linkedTo(outer.signal);
    early.abort(new Error('early'));
    expect(outer.signal.aborted).toBe(false);
    outer.abort(new Error('enough'));
    expect(inner.signal.reason).toHaveProperty('message', 'enough');
    expect(early.signal.reason).toHaveProperty('message', 'early');
    expect(linkedTo(outer.signal).signal.aborted).toBe(true);
  });
});

describe('repeating and pacing', () => {
  it('repeats until the step is done', async () => {
    const steps: number[] = [];
    await repeat(0, new AbortController().signal, async () => (steps.push(1) < 3 ? 'again' : 'done'));
    expect(steps).toHaveLength(3);
  });

  it('sends one after the other until told to stop', async () => {
    const stop = new AbortController();
    const sent: number[] = [];
    await pace(1e6, 0, stop.signal, async (n) => {
      sent.push(n);
      if (n === 4) stop.abort();
    });
    expect(sent).toEqual([0, 1, 2, 3, 4]);
  });

  it('sends the first few at once, however slow the rate', async () => {
    const stop = new AbortController();
    const sent: number[] = [];
    await pace(1e-6, 3, stop.signal, async (n) => {
      sent.push(n);
      if (n === 3) stop.abort();
    });
    expect(sent).toEqual([0, 1, 2, 3]);
  });

  it('passes on what a step throws', async () => {
    const { signal } = new AbortController();
    await expect(pace(1e6, 0, signal, () => Promise.reject(new Error('503')))).rejects.toThrow('503');
  });
});

describe('the service rate', () => {
  it('is that of the ends after the first few', () => {
    const ends = [500, 900, 1000, 1500, 2000, 2500, 3000].map((endedAtMs) => job('c', 0, 0, endedAtMs));
    expect(completionsPerSecond(ends, 3)).toBe(2);
  });

  it('cannot be told from too few', () => {
    expect(() => completionsPerSecond([job('c', 0, 0, 10), job('c', 0, 0, null)], 1)).toThrow(/too few/);
  });
});

describe('the ready line', () => {
  it.each([
    ['{"ready":true,"url":"http://127.0.0.1:4711","adminKey":"k"}', 'http://127.0.0.1:4711'],
    ['{"ready":false,"url":"http://127.0.0.1:4711"}', undefined],
    ['{"ready":true}', undefined],
    ['{"level":30,"msg":"ready"}', undefined],
    ['{"cut off', undefined],
    ['Headgate listens on http://127.0.0.1:4711', undefined],
  ])('%s', (line, url) => {
    expect(urlOfReadyLine(line)).toBe(url);
  });
});

describe('the display', () => {
  const outputOf = (isTTY: boolean) => {
    const written: string[] = [];
    const display = new TerminalDisplay({ isTTY, columns: 10, write: (text: string) => written.push(text) });
    return { display, written };
  };

  it('overwrites what it showed on a terminal, cut to its width', () => {
    const { display, written } = outputOf(true);
    display.show(['one', 'two']);
    display.show(['a line that is too long', 'b']);
    expect(written[1]).toBe('\u001b[2A\u001b[2Ka line tha\n\u001b[2Kb\n\u001b[0J');
  });

  it('does not overwrite what is to stay', () => {
    const { display, written } = outputOf(true);
    display.show(['one']);
    display.say('kept');
    display.show(['two']);
    expect(written.join('')).not.toContain('\u001b[1A');
  });

  it('writes plain lines elsewhere, and not at every call', () => {
    const { display, written } = outputOf(false);
    display.show(['one', 'two']);
    display.show(['three']);
    expect(written).toEqual(['one\ntwo\n\n']);
  });
});
