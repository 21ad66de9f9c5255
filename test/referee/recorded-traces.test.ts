import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { report } from './report.js';
import type { Recorded } from './support/recorded.js';
import { judge } from './verdict.js';

const FOLDER = new URL('./traces/', import.meta.url);

const recordings = readdirSync(FOLDER).map((name) => {
  const recorded: Recorded = JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8'));
  return { name, ...recorded };
});

describe('the referee', () => {
  const lawful = recordings.filter(({ breaks }) => breaks === null);
  const unlawful = recordings.filter(({ breaks }) => breaks !== null);

  it.each(lawful)('accepts $name: $about', ({ contract, events }) => {
    const verdict = judge(events, contract);
    expect(verdict.violations, report(verdict)).toEqual([]);
  });

  it.each(unlawful)('rejects $name for $breaks alone: $about', ({ contract, events, breaks }) => {
    const verdict = judge(events, contract);
    expect(new Set(verdict.violations.map(({ guarantee }) => guarantee)), report(verdict)).toEqual(new Set([breaks]));
  });

  it.each(['G1', 'G2', 'G3', 'G5', 'G6', 'G7', 'G8', 'G9'])('has a trace that breaks %s', (guarantee) => {
    expect(unlawful.map(({ breaks }) => breaks)).toContain(guarantee);
  });
});
