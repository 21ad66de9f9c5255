import { describe, expect, it } from 'vitest';
import { liveTable } from '../../bench/demo/live-rows.js';
import { percent, tableLines } from '../../bench/demo/table.js';
import { job, steadyJobs } from './jobs.js';

describe('a table', () => {
  it('aligns its columns and leaves no blanks at the ends of lines', () => {
    const columns = [
      { title: 'tenant', align: 'left' as const },
      { title: 'done', align: 'right' as const },
      { title: 'by', align: 'left' as const },
    ];
    expect(
      tableLines(columns, [
        ['gold', '7', 'rate'],
        ['silver-and-more', '12345', ''],
      ]),
    ).toEqual(['tenant            done  by', 'gold                 7  rate', 'silver-and-more  12345']);
  });

  it('writes parts in percent, and a dash for what is no number', () => {
    expect([percent(0.5714), percent(0.98765, 2), percent(0 / 0)]).toEqual(['57 %', '98.77 %', '-']);
  });
});

describe('the live table', () => {
  const gold = {
    tenant: 'gold',
    weight: 4,
    ratePerSecond: 1,
    refused: 0,
    nextStartAtMs: 20_400,
    jobs: steadyJobs('gold', 20, 1000, 500),
  };
  const flood = {
    tenant: 'flood',
    weight: 1,
    ratePerSecond: Number.POSITIVE_INFINITY,
    refused: 7,
    nextStartAtMs: null,
    jobs: [
      ...steadyJobs('flood', 60, 333, 500),
      job('flood', 0, 19_990, null),
      job('flood', 0, null),
      job('flood', 0, null),
    ],
  };

  it('shows counts, rate, next start and the shares received and deserved', () => {
    const [titles, ...rows] = liveTable([gold, flood], 0, 20_000, 2);
    const cells = [titles, ...rows].map((line) => line?.split(/ {2,}/));
    expect(cells).toEqual([
      [
        'tenant',
        'weight',
        'limit',
        'waiting',
        'running',
        'done',
        'refused',
        'rate',
        'next start',
        'received',
        'deserved',
      ],
      ['gold', '4', '1/s', '0', '0', '20', '0', '1.00/s', '0.4 s', '25 %', '25 %'],
      ['flood', '1', 'none', '2', '1', '60', '7', '3.00/s', '-', '75 %', '75 %'],
    ]);
  });

  it('has numbers from the first instant on', () => {
    expect(liveTable([gold, flood], 5, 5, 2).join()).not.toMatch(/NaN|Infinity/);
  });

  it('shows dashes before anything was served', () => {
    const [, row] = liveTable([{ ...gold, jobs: [] }], 0, 1000, 2);
    expect(row).toMatch(/0\.00\/s {2,}19\.4 s {2,}- {2,}-$/);
  });
});
