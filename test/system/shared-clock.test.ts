import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { type ApiAnswer, type ApiProcess, startApi } from './support/api-process.js';
import { type FakeClock, fakeClock, withEnvironment, wrongClock } from './support/fake-clock.js';

const HOUR = 3600;
const MINUTE = 60;

/** The policies that every process knows, each with `quota` units at once that come back over `windowSeconds`. */
function policiesOf(quota: number, windowSeconds: number, deadline = '5s') {
  const bucket = { rate: `${quota / windowSeconds}/s`, burst: quota, deadline };
  const window = { limit: quota, window: `${windowSeconds}s`, deadline };
  return {
    bucket,
    log: { algorithm: 'sliding-window-log', ...window },
    counter: { algorithm: 'sliding-window-counter', ...window },
    leased: { algorithm: 'leased', lease: '500ms', ...bucket },
    local: { algorithm: 'local', ...bucket },
  };
}
const IN_REDIS = ['bucket', 'log', 'counter', 'leased'] as const;

const stops: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const stop of stops.toReversed()) await stop();
});
async function started<Started extends { stop(): Promise<unknown> }>(start: Promise<Started>): Promise<Started> {
  const thing = await start;
  stops.push(() => thing.stop());
  return thing;
}
async function newClock(): Promise<FakeClock> {
  const clock = await fakeClock();
  stops.push(() => clock.remove());
  return clock;
}

let users = 0;
function newUser(): string {
  users += 1;
  return `user-${users}`;
}

async function asks(api: ApiProcess, policy: string, user: string, count: number): Promise<ApiAnswer[]> {
  const answers: ApiAnswer[] = [];
  for (let i = 0; i < count; i++) answers.push(await api.ask(policy, user));
  return answers;
}

function within(tolerance: number, wanted: number): (actual: number) => boolean {
  return (actual) => Math.abs(actual - wanted) < tolerance;
}

describe('a process whose own wall clock is wrong', () => {
  /** Three at once, and all three are back after five minutes: next to nothing changes while the test runs. */
  const [quota, windowSeconds] = [3, 300];
  const apis = new Map<number, ApiProcess>();
  let redis: TestRedis;

  beforeAll(async () => {
    redis = await started(startRedis());
    const options = { redis: redis.socketPath, policies: policiesOf(quota, windowSeconds) };
    const start = async (offset: number) => {
      apis.set(offset, await started(startApi(options, offset === 0 ? {} : await wrongClock(offset))));
    };
    await Promise.all([0, HOUR, -HOUR].map(start));
  });
  const apiAt = (offset: number): ApiProcess => {
    const api = apis.get(offset);
    if (api === undefined) throw new Error(`no process is ${offset} s off`);
    return api;
  };

  it.each([HOUR, -HOUR])('is really %d s off', async (offset) => {
    expect(((await apiAt(offset).wallClockMs()) - Date.now()) / 1000).toSatisfy(within(5, offset));
  });

  describe.each([HOUR, -HOUR])('%d s off', (offset) => {
    it.each([...IN_REDIS, 'local'])('decides by %s as one does whose clock is right', async (policy) => {
      const [right, wrong] = [newUser(), newUser()];
      const expected = await asks(apiAt(0), policy, right, quota + 1);
      const actual = await asks(apiAt(offset), policy, wrong, quota + 1);
      expect(actual.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
      expect(expected.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
      const wait = expected.at(-1)?.retryAfter ?? Number.NaN;
      expect(Math.abs((actual.at(-1)?.retryAfter ?? Number.NaN) - wait)).toBeLessThanOrEqual(10);
    });

    it.each(['bucket', 'log', 'counter'])('shares one limit by %s with those whose clock is right', async (policy) => {
      const user = newUser();
      const taken = [
        await apiAt(offset).ask(policy, user),
        await apiAt(0).ask(policy, user),
        await apiAt(offset).ask(policy, user),
      ];
      expect(taken.map(({ status }) => status)).toEqual([200, 200, 200]);
      const refused = [await apiAt(0).ask(policy, user), await apiAt(offset).ask(policy, user)];
      expect(refused.map(({ status }) => status)).toEqual([429, 429]);
    });
  });
});

describe('Redis, whose wall clock is stepped,', () => {
  /** Two at once, and both are back after two seconds. */
  const [quota, windowSeconds] = [2, 2];
  /** The counter looks back at the window before, too. */
  const LONGEST_WAIT = 2 * windowSeconds;
  let clock: FakeClock;
  let redis: TestRedis;
  let api: ApiProcess;

  beforeAll(async () => {
    clock = await newClock();
    redis = await started(withEnvironment(clock.env, () => startRedis()));
    api = await started(startApi({ redis: redis.socketPath, policies: policiesOf(quota, windowSeconds) }));
  });

  async function redisIsOff(): Promise<number> {
    const client = redis.client();
    const [seconds] = await client.time();
    client.disconnect();
    return Number(seconds) - Date.now() / 1000;
  }

  async function step(offset: number): Promise<void> {
    await clock.set(offset);
    await expect.poll(redisIsOff, { interval: 100 }).toSatisfy(within(5, offset));
  }

  it.each([
    ['a minute forward', [MINUTE]],
    ['a minute back', [-MINUTE]],
    ['an hour forward', [HOUR]],
    ['an hour back', [-HOUR]],
    ['an hour forward and back again', [HOUR, 0]],
    ['an hour back and forward again', [-HOUR, 0]],
  ])('%s, blocks nobody for good', async (_, offsets) => {
    await step(0);
    const callers = IN_REDIS.flatMap((policy) => [
      { policy, user: newUser(), busy: true },
      { policy, user: newUser(), busy: false },
    ]);
    // Some have used up what they had when it happens, others one of two.
    const use = async () => {
      for (const { policy, user, busy } of callers) await asks(api, policy, user, busy ? quota + 1 : 1);
    };
    await use();
    for (const offset of offsets) {
      await step(offset);
      await use();
    }
    for (const { policy, user } of callers) {
      const first = await api.ask(policy, user);
      expect(first.retryAfter ?? 0, policy).toBeLessThanOrEqual(LONGEST_WAIT);
      const passes = async () => (await api.ask(policy, user)).status;
      await expect.poll(passes, { timeout: (LONGEST_WAIT + 4) * 1000, message: policy, interval: 200 }).toBe(200);
    }
  });

  it('holds callers to their limits afterwards', async () => {
    await step(HOUR);
    await step(0);
    for (const policy of ['bucket', 'log', 'counter']) {
      const answers = await asks(api, policy, newUser(), 10);
      expect(answers.filter(({ status }) => status === 200).length, policy).toBeLessThan(10);
    }
  });
});

describe('a local policy', () => {
  it('is not affected by the wall clock of its process, however it is stepped', async () => {
    const [quota, windowSeconds] = [3, 300];
    const clock = await newClock();
    const { local } = policiesOf(quota, windowSeconds);
    const api = await started(startApi({ policies: { local } }, clock.env));
    const user = newUser();
    await asks(api, 'local', user, quota);
    for (const offset of [0, MINUTE, -MINUTE, HOUR, -HOUR]) {
      await clock.set(offset);
      const isOff = async () => ((await api.wallClockMs()) - Date.now()) / 1000;
      await expect.poll(isOff, { interval: 100 }).toSatisfy(within(5, offset));
      const { status, retryAfter } = await api.ask('local', user);
      expect(status).toBe(429);
      expect(retryAfter).toBeGreaterThan(windowSeconds / quota - 60);
      expect(retryAfter).toBeLessThanOrEqual(windowSeconds / quota);
    }
  });
});
