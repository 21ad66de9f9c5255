import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { RedisUnavailable } from '../../src/redis/outage.js';
import { type AgentOptions, makeAgent } from '../../src/shaping/agent.js';

const errors: unknown[] = [];
const options = (parts: Partial<AgentOptions> = {}): AgentOptions => ({
  everyMs: 1000,
  random: () => 0.5,
  onError: (error) => errors.push(error),
  ...parts,
});
beforeEach(() => {
  errors.length = 0;
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A duty that takes until it is told to end. */
function duty() {
  const runs: { end: () => void; fail: (error: unknown) => void }[] = [];
  const run = () => new Promise<void>((end, fail) => void runs.push({ end, fail }));
  return { runs, run };
}

describe('an agent', () => {
  test.each([
    [0, 750],
    [0.5, 1000],
    [1, 1250],
  ])('with a draw of %d runs after %d ms, and no sooner', async (draw, afterMs) => {
    let runs = 0;
    const agent = makeAgent(
      async () => {
        runs += 1;
      },
      options({ random: () => draw }),
    );
    agent.start();
    await vi.advanceTimersByTimeAsync(afterMs - 1);
    expect(runs).toBe(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(runs).toBe(1);
    await vi.advanceTimersByTimeAsync(afterMs);
    expect(runs).toBe(2);
    await agent.stop();
  });

  test('never runs twice at once, however long a run takes and whoever asks', async () => {
    const { runs, run } = duty();
    const agent = makeAgent(run, options());
    agent.start();
    await vi.advanceTimersByTimeAsync(1000);
    const asked = agent.runOnce();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(runs.length).toBe(1);
    runs[0]?.end();
    await asked;
    await vi.advanceTimersByTimeAsync(1000);
    expect(runs.length).toBe(2);
    runs[1]?.end();
    await agent.stop();
  });

  test('that is stopped ends the run under way and begins no other', async () => {
    const { runs, run } = duty();
    const agent = makeAgent(run, options());
    agent.start();
    await vi.advanceTimersByTimeAsync(1000);
    let stopped = false;
    const stopping = agent.stop().then(() => {
      stopped = true;
    });
    await vi.advanceTimersByTimeAsync(5000);
    expect(stopped).toBe(false);
    runs[0]?.end();
    await stopping;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(runs.length).toBe(1);
  });

  test('outlives its errors, and tells of those that are not Redis being away', async () => {
    const { runs, run } = duty();
    const agent = makeAgent(run, options());
    agent.start();
    const fault = new Error('fault');
    for (const error of [new RedisUnavailable('away'), fault]) {
      await vi.advanceTimersByTimeAsync(1000);
      runs.at(-1)?.fail(error);
    }
    await vi.advanceTimersByTimeAsync(1000);
    expect(runs.length).toBe(3);
    expect(errors).toEqual([fault]);
    runs[2]?.end();
    await agent.stop();
  });
});
