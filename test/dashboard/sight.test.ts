import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { PageStream } from '../../src/dashboard/page-stream.js';
import { Reader } from '../../src/dashboard/reader.js';
import type { Principal } from '../../src/http/keyring.js';
import type { SurveyedBucket } from '../../src/shaping/bucket-survey.js';
import { AT_MS, bucket } from './support/buckets.js';

beforeEach(() => {
  vi.useFakeTimers({ now: AT_MS });
});
afterEach(() => {
  vi.useRealTimers();
});

const OWN = bucket({
  tenant: 'own',
  waiting: 40,
  waitingCost: 40,
  nextStartMs: 0,
  lateMs: 2000,
  servedPerSecond: 3,
  deservedPerSecond: 1,
  longestMs: 9000,
});

/** All that a page is told over some readings of a world in which there is this bucket beside others. */
async function toldTo(
  principal: Principal,
  others: readonly SurveyedBucket[],
  scarceForMs: number | null,
): Promise<string> {
  const all = new Map([OWN, ...others].map((each) => [each.tenant, each]));
  const reader = new Reader({
    survey: {
      tenants: async () => ({ tenants: [...all.keys()], cursor: undefined }),
      buckets: async (_type, names) => names.map((tenant) => all.get(tenant) ?? bucket({ tenant })),
    },
    typeNames: () => ['ocr'],
    type: async (type) => ({
      type,
      capacity: { ratePerSecond: 20, burst: 1, concurrency: 4 },
      ...{ backloggedBuckets: all.size, readyBuckets: all.size, running: others.length, meanRunMs: null, scarceForMs },
      servedPerSecond: [...all.values()].reduce((sum, each) => sum + each.servedPerSecond, 0),
    }),
    doorCounts: async (_name, slots) => ({
      beganAtMs: AT_MS - (AT_MS % 5000),
      slotMs: 5000,
      slots: Array.from({ length: slots }, () => ({
        ...{ admitted: others.length, refused: others.length },
        refusedOf: new Map([...others.map(({ tenant }) => [tenant, 3] as const), ['own', 1] as const]),
      })),
    }),
    waits: async () => [5],
    onError: (error) => {
      throw error;
    },
  });
  const told: string[] = [];
  const view = { type: 'ocr', window: { search: '', sort: 'trouble', from: 0, count: 60 }, opened: 'own' } as const;
  const page = new PageStream({ reader, principal, view, version: '1', send: (text) => void told.push(text) });
  const admin = reader.watch({ wanted: () => ({ all: true, buckets: [], opened: [] }), onReading: () => undefined });
  const leave = reader.watch(page);
  page.begin();
  await vi.advanceTimersByTimeAsync(6500);
  leave();
  admin();
  vi.setSystemTime(AT_MS);
  return told.join('');
}

const amount = fc.double({ min: 0, max: 50, noNaN: true });
const anyOther = fc.record({
  ...{ tenant: fc.stringMatching(/^other-[a-z]{1,5}$/), waiting: fc.nat(500), delayed: fc.nat(5), running: fc.nat(5) },
  ...{
    nextStartMs: fc.constantFrom(0, 50, null),
    servedPerSecond: amount,
    deservedPerSecond: amount,
    lateMs: fc.nat(9000),
  },
});
const anyOthers = fc.uniqueArray(anyOther, { selector: ({ tenant }) => tenant, maxLength: 6 });

test('a tenant is told the same, whatever all others do', async () => {
  const own = { kind: 'tenant', tenant: 'own' } as const;
  const alone = await toldTo(own, [], null);
  for (const event of ['hello', 'overview', 'history', 'point', 'buckets', 'summary', 'tenant'])
    expect(alone).toContain(`event: ${event}\n`);
  await fc.assert(
    fc.asyncProperty(anyOthers, fc.constantFrom(null, 90_000), async (others, scarceForMs) => {
      expect(
        await toldTo(
          own,
          others.map((each) => bucket(each)),
          scarceForMs,
        ),
      ).toBe(alone);
    }),
    { numRuns: 40 },
  );
});

test('an admin is told of them', async () => {
  const others = [
    bucket({ tenant: 'other-a', waiting: 400, nextStartMs: 0, servedPerSecond: 1, deservedPerSecond: 5 }),
  ];
  const told = await toldTo({ kind: 'admin' }, others, 90_000);
  expect(told).toContain('"starved":["other-a"]');
  expect(told).not.toBe(await toldTo({ kind: 'admin' }, [], null));
});
