import { describe, expect, it } from 'vitest';
import { fairnessWords } from '../../src/dashboard/public/pure/fairness-words.js';
import { headline, sentence } from '../../src/dashboard/public/pure/headline.js';
import { previewSentence } from '../../src/dashboard/public/pure/preview-sentence.js';
import type { Summary, TypeRow } from '../../src/dashboard/public/pure/stream-state.js';
import { described, TROUBLES } from '../../src/dashboard/public/pure/trouble.js';

const at = (hours: number, minutes: number, seconds = 0, ms = 0) => new Date(2026, 10, 30, hours, minutes, seconds, ms);

const ROW: TypeRow = {
  type: 'ocr',
  inPerSecond: 4,
  outPerSecond: 4.1,
  capacityPerSecond: 5,
  running: 2,
  concurrency: 2,
  busy: 2,
  waiting: 12,
  delayed: 0,
  oldestMs: 400,
  slipMs: 1,
  readyBuckets: 1,
  backloggedBuckets: 3,
  scarceForMs: 0,
  paused: false,
  behind: false,
  jain: 1,
};
const CALM: Summary = { type: 'ocr', counts: {}, names: {}, nextStart: null, shares: [] };
const words = (row: Partial<TypeRow>, summary: Partial<Summary> = {}, others: TypeRow[] = []) =>
  sentence(headline({ ...ROW, ...row }, { ...CALM, ...summary }, others, at(14, 5).getTime()));

describe('the headline', () => {
  it('says who is behind, full and noisy, and when the next job starts', () => {
    const summary = {
      counts: { full: 1, noisy: 1, refusing: 1 },
      names: { full: ['acme'], noisy: ['globex'], refusing: ['acme'] },
      nextStart: { tenant: 'acme', at: at(14, 5, 3, 210).toISOString() },
    };
    expect(words({ behind: true, oldestMs: 42_300 }, summary)).toBe(
      'ocr is behind: oldest waits 42 s; acme is full; globex is noisy; next start 14:05:03.2',
    );
  });

  it.each<[string, Partial<TypeRow>, Partial<Summary>]>([
    ['ocr keeps up: 4.1/s out, 12 wait; nobody is full', {}, {}],
    ['ocr is idle; nobody is full', { waiting: 0, running: 0 }, {}],
    ['ocr is paused: oldest waits 1 min; nobody is full', { paused: true, oldestMs: 60_000 }, {}],
    [
      'ocr is behind: oldest waits 9.0 s, workers scarce for 8.0 s',
      { behind: true, oldestMs: 9_000, scarceForMs: 8_000 },
      {},
    ],
    ['ocr keeps up: 4.1/s out, 12 wait; a and b are full', {}, { counts: { full: 2 }, names: { full: ['a', 'b'] } }],
    [
      'ocr keeps up: 4.1/s out, 12 wait; a, b and 7 more are full',
      {},
      { counts: { full: 9 }, names: { full: ['a', 'b', 'c'] } },
    ],
    [
      'ocr keeps up: 4.1/s out, 12 wait; a is refusing jobs',
      {},
      { counts: { refusing: 1 }, names: { refusing: ['a'] } },
    ],
    ['ocr keeps up: 4.1/s out, 12 wait; 1 bucket is held by a busy upstream', {}, { counts: { held: 1 } }],
    ['ocr keeps up: 4.1/s out, 12 wait; a⟨202E⟩ is full', {}, { counts: { full: 1 }, names: { full: ['a\u202E'] } }],
  ])('%s', (text, row, summary) => expect(words(row, summary)).toBe(text));

  it('says that a late start waits for a worker', () => {
    const nextStart = { tenant: 'a', at: at(14, 4, 12).toISOString() };
    expect(words({}, { nextStart })).toContain('; next start as soon as a worker is free, due since 14:04:12.0');
  });

  it('names other types that are behind', () => {
    const chat = { ...ROW, type: 'chat', behind: true };
    expect(words({}, {}, [chat])).toContain('; chat is behind too');
  });

  it('says nothing of buckets before it heard of them', () => {
    expect(sentence(headline(ROW, null, [], 0))).toBe('ocr keeps up: 4.1/s out, 12 wait');
  });
});

describe('troubles', () => {
  it('have a word and a shape each, no two the same', () => {
    expect(new Set(TROUBLES.map(({ shape }) => shape)).size).toBe(TROUBLES.length);
    expect(new Set(TROUBLES.map(({ word }) => word)).size).toBe(TROUBLES.length);
  });

  it('come the worst first', () => {
    expect(described(['paused', 'full', 'refusing']).map(({ word }) => word)).toEqual(['refusing', 'full', 'paused']);
  });
});

describe('fairness in words', () => {
  const shares = [
    { tenant: 'a', received: 0.5, deserved: 0.5 },
    { tenant: 'b', received: 0.5, deserved: 0.5 },
  ];
  it.each([
    [1, 'Everybody gets what it deserves.'],
    [0.93, 'Shares are close to what is deserved.'],
    [0.7, 'Shares are far from what is deserved.'],
    [null, 'Too few tenants compete to compare them.'],
  ])('Jain %s: %s', (jain, verdict) => {
    expect(fairnessWords({ ...CALM, shares }, jain).verdict).toBe(verdict);
  });

  it('names who is noisy, and who pays for it: nobody unless somebody is starved', () => {
    const names = { noisy: ['globex'], starved: ['small', 'tiny'] };
    expect(fairnessWords({ ...CALM, names, shares }, 0.7)).toMatchObject({ noisy: ['globex'], paying: names.starved });
    expect(fairnessWords({ ...CALM, names: { ...names, starved: [] }, shares }, 1)).toMatchObject({
      noisy: ['globex'],
      paying: [],
    });
  });
});

describe('the preview of another rate', () => {
  const now = at(13, 0).getTime();
  const preview = (endsAt: Date | null, wouldEndAt: Date | null, waiting = 240) =>
    previewSentence(
      { waiting, endsAt: endsAt?.toISOString() ?? null, wouldEndAt: wouldEndAt?.toISOString() ?? null },
      now,
    );

  it('says when the backlog would end', () => {
    expect(preview(at(15, 20), at(14, 5))).toBe('The backlog of 240 would end at 14:05 instead of 15:20.');
  });

  it('says it to the second where that is soon', () => {
    expect(preview(at(13, 2), at(13, 0, 30), 12)).toBe('The backlog of 12 would end at 13:00:30 instead of 13:02:00.');
  });

  it('says when it never ends, before or after', () => {
    expect(preview(at(14, 0), null)).toBe('The backlog of 240 would never end instead of at 14:00.');
    expect(preview(null, at(14, 0))).toBe('The backlog of 240 would end at 14:00; as it is, it never ends.');
    expect(preview(at(14, 0), at(14, 0))).toBe('The backlog of 240 would end at 14:00, as it does now.');
    expect(preview(null, null, 0)).toContain('Nothing waits');
  });
});
