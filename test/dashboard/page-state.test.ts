import { describe, expect, it } from 'vitest';
import {
  applyEvent,
  emptyState,
  openView,
  type StreamState,
  type View,
} from '../../src/dashboard/public/pure/stream-state.js';

const VIEW: View = { type: 'ocr', q: '', sort: 'trouble', from: 0, count: 60, tenant: null };
const HELLO = { at: '2026-11-30T14:05:03Z', role: 'admin', type: 'ocr', types: ['ocr', 'chat'], version: '0.1.0' };

const bucket = (tenant: string, waiting = 0) => ({ tenant, waiting });
const hear = (state: StreamState, ...events: [string, unknown][]) =>
  events.reduce((known, [name, data]) => applyEvent(known, name, data), state);
const waitingOf = ({ buckets }: StreamState) =>
  buckets?.order.map((tenant) => [tenant, buckets.rows.get(tenant)?.waiting]);

describe('what a page knows', () => {
  const opened = hear(openView(emptyState(), VIEW), ['hello', HELLO]);

  it('learns which type is the first', () => {
    expect(hear(openView(emptyState(), { ...VIEW, type: '' }), ['hello', HELLO]).view.type).toBe('ocr');
  });

  it('keeps the rows that no change was told of', () => {
    const state = hear(
      opened,
      ['buckets', { total: 2, order: ['a', 'b'], rows: [bucket('a', 1), bucket('b', 2)] }],
      ['buckets', { total: 2, rows: [bucket('b', 3)] }],
      ['buckets', { total: 2, order: ['b', 'a'], rows: [] }],
    );
    expect(waitingOf(state)).toEqual([
      ['b', 3],
      ['a', 1],
    ]);
  });

  it('forgets who left the window', () => {
    const state = hear(
      opened,
      ['buckets', { total: 3, order: ['a', 'b'], rows: [bucket('a'), bucket('b')] }],
      ['buckets', { total: 3, order: ['b', 'c'], rows: [bucket('c')] }],
    );
    expect([...(state.buckets?.rows.keys() ?? [])]).toEqual(['b', 'c']);
  });

  it.each(['__proto__', 'constructor', 'toString'])('takes a tenant called %s for a tenant', (tenant) => {
    expect(hear(opened, ['buckets', { total: 1, order: [tenant], rows: [] }]).buckets?.rows.has(tenant)).toBe(false);
    const state = hear(opened, ['buckets', { total: 1, order: [tenant], rows: [bucket(tenant, 7)] }]);
    expect(waitingOf(state)).toEqual([[tenant, 7]]);
  });

  it('goes on showing the old window until the new one is there, and then nothing of it', () => {
    const before = hear(opened, ['buckets', { total: 99, order: ['a'], rows: [bucket('a', 1)] }]);
    const scrolled = openView(before, { ...VIEW, from: 40 });
    expect(waitingOf(scrolled)).toEqual([['a', 1]]);
    expect(scrolled.buckets?.from).toBe(0);
    const state = hear(scrolled, ['buckets', { total: 99, order: ['x'], rows: [bucket('x', 5)] }]);
    expect(state.buckets?.from).toBe(40);
    expect([...(state.buckets?.rows.keys() ?? [])]).toEqual(['x']);
  });

  it('shows nothing of one type under the name of another', () => {
    const summary = { type: 'ocr', counts: {}, names: {}, nextStart: null, shares: [] };
    const before = hear(opened, ['buckets', { total: 1, order: ['a'], rows: [bucket('a')] }], ['summary', summary]);
    const state = openView(before, { ...VIEW, type: 'chat' });
    expect([state.buckets, state.summary, state.history.points]).toEqual([null, null, []]);
  });

  it('keeps types in place, and takes the whole row of one that changed', () => {
    const row = (type: string, waiting: number) => ({ type, waiting });
    const state = hear(
      opened,
      ['overview', { types: [row('ocr', 1), row('chat', 2)] }],
      ['overview', { types: [row('ocr', 5)] }],
    );
    expect([...state.overview.values()].map(({ type, waiting }) => [type, waiting])).toEqual([
      ['ocr', 5],
      ['chat', 2],
    ]);
  });

  it('adds points, replaces one of the same instant, and keeps a quarter of an hour', () => {
    const start = 1_000_000_000_000;
    const state = hear(
      opened,
      [
        'history',
        {
          type: 'ocr',
          points: [
            [start, 1],
            [start + 5000, 2],
          ],
        },
      ],
      ['point', { type: 'ocr', point: [start + 5000, 3] }],
      ['point', { type: 'ocr', point: [start + 15 * 60_000, 4] }],
      ['point', { type: 'chat', point: [start + 15 * 60_000, 9] }],
    );
    expect(state.history.points).toEqual([
      [start + 5000, 3],
      [start + 15 * 60_000, 4],
    ]);
  });

  it('knows whether Redis is there, and after a new connection that it is', () => {
    const away = hear(opened, ['redis', { up: false }]);
    expect(away.redisUp).toBe(false);
    expect(hear(away, ['hello', HELLO]).redisUp).toBe(true);
  });

  it('is not changed by an event that it does not know', () => {
    expect(applyEvent(opened, 'weather', { up: true })).toBe(opened);
  });
});
