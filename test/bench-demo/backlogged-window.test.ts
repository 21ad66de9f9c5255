import { describe, expect, it } from 'vitest';
import { backloggedWindow } from '../../bench/demo/backlogged-window.js';
import { job } from './jobs.js';

describe('the window in which all tenants are backlogged', () => {
  it('begins with the last to have something waiting and ends with the first to have nothing', () => {
    const jobs = [job('a', 0, 90), job('b', 10, 20), job('b', 15, 80), job('a', 50, null)];
    expect(backloggedWindow(['a', 'b'], jobs, 100)).toEqual({ fromMs: 10, untilMs: 80 });
  });

  it('lasts to the end when nobody runs dry', () => {
    expect(backloggedWindow(['a', 'b'], [job('a', 0, null), job('b', 5, null)], 60)).toEqual({
      fromMs: 5,
      untilMs: 60,
    });
  });

  it('is the longest of several', () => {
    const jobs = [job('a', 0, null), job('b', 0, 10), job('b', 20, 50), job('b', 55, 60)];
    expect(backloggedWindow(['a', 'b'], jobs, 100)).toEqual({ fromMs: 20, untilMs: 50 });
  });

  it('is not broken by a job that arrives in the millisecond in which the one before it starts', () => {
    const jobs = [job('a', 0, null), job('b', 0, 10), job('b', 10, null)];
    expect(backloggedWindow(['a', 'b'], jobs, 30)).toEqual({ fromMs: 0, untilMs: 30 });
  });

  it('does not exist when one tenant never waits, or was not there at all', () => {
    expect(backloggedWindow(['a', 'b'], [job('a', 0, null), job('b', 5, 5)], 60)).toBeUndefined();
    expect(backloggedWindow(['a', 'b'], [job('a', 0, null)], 60)).toBeUndefined();
  });

  it('takes no notice of tenants who are not asked about', () => {
    expect(backloggedWindow(['a'], [job('a', 0, null), job('x', 5, 6)], 60)).toEqual({ fromMs: 0, untilMs: 60 });
  });
});
