import { describe, expect, it } from 'vitest';
import { isUnrecoverable } from '../../../workers/handler.js';
import echo from '../../../workers/handlers/echo.js';
import { contextFor, jobWith } from './running.js';

describe('the echo handler', () => {
  it.each([{ hello: 'gate' }, { ms: 0 }, { ms: 1, hello: 'later' }, 'text', 5, null, ['a']])(
    'returns %j as it came',
    async (data) => {
      expect(await echo.run(jobWith({ data }), contextFor())).toEqual(data);
    },
  );

  it.each([-1, 60_001, 'soon', null, Number.NaN])('refuses work of %j for good', async (ms) => {
    const error = await Promise.resolve(echo.run(jobWith({ data: { ms } }), contextFor())).catch(
      (thrown: unknown) => thrown,
    );
    expect(isUnrecoverable(error)).toBe(true);
    expect(error).toHaveProperty('message', 'data.ms: expected a number of milliseconds from 0 to 60000');
  });

  it('stops when the job is told to stop', async () => {
    const stop = new AbortController();
    const run = echo.run(jobWith({ data: { ms: 60_000 } }), contextFor(stop.signal));
    stop.abort(new Error('cancelled'));
    await expect(run).rejects.toThrow(/abort/);
  });
});
