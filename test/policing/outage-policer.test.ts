import { stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { Circuit } from '../../src/policing/circuit.js';
import { Deadline, Late, withinDeadline } from '../../src/policing/deadline.js';
import { OutageLog } from '../../src/policing/outage-log.js';
import { OutagePolicer, type OutagePolicerOptions } from '../../src/policing/outage-policer.js';
import type { Check, Policer, PolicerVerdict } from '../../src/policing/policer.js';

const check: Check = { limits: [], cost: 1, peek: false };
const conforming: PolicerVerdict = { verdict: 'conforming', readings: [], giveBack: () => undefined };
const full: PolicerVerdict = { verdict: 'limited', readings: [], limitedBy: 0, retryAfterMs: 1 };

/** A policer that answers so, and how often it was asked. */
function policer(answer: Policer['check']): Policer & { readonly asked: () => number } {
  let asked = 0;
  return {
    check: (each) => {
      asked += 1;
      return answer(each);
    },
    close: () => undefined,
    asked: () => asked,
  };
}

/** The lines of a log, as `[message, detail]`. */
function logTo(lines: [string, object][], now: () => number, kind: string): OutageLog {
  const write = (detail: object, message: string): void => void lines.push([message, detail]);
  return new OutageLog({
    logger: { warn: write, info: write },
    now,
    quietMs: 1000,
    begins: `${kind} begins`,
    ends: `${kind} ends`,
  });
}

function setUp(inner: Policer, options: Partial<OutagePolicerOptions> = {}) {
  const lines: [string, object][] = [];
  let nowMs = 0;
  const now = (): number => nowMs;
  const policer = new OutagePolicer({
    policy: 'api',
    policer: inner,
    standIn: 'open',
    deadlineMs: 20,
    circuit: new Circuit({ now, random: () => 0.5 }),
    outages: logTo(lines, now, 'outage'),
    faults: logTo(lines, now, 'fault'),
    ...options,
  });
  return {
    policer,
    lines,
    advance: (ms: number): void => {
      nowMs += ms;
    },
  };
}

const never = (): Promise<never> => new Promise(() => undefined);
const rejects = (message: string) => async () => Promise.reject(new Error(message));

describe('a policer with a deadline', () => {
  test.each<[string, Policer['check']]>([
    ['does not answer', never],
    ['says that Redis is away', rejects('Connection is closed.')],
    ['says that Redis is full', rejects('OOM command not allowed')],
    ['rejects with a mistake', rejects('WRONGTYPE Operation')],
    ['rejects with no error', () => Promise.reject('what')],
    [
      'throws',
      () => {
        throw new TypeError('x is not a function');
      },
    ],
  ])('has its stand-in decide where the one inside %s', async (_, answer) => {
    const outcomes = [];
    for (const standIn of ['open', 'closed', { check: () => full }] as const) {
      outcomes.push(await setUp(policer(answer), { standIn }).policer.check(check));
    }
    expect(outcomes).toEqual([{ decidedBy: 'open' }, { decidedBy: 'closed' }, { decidedBy: 'local', verdict: full }]);
  });

  test('decides as the one inside where that answers, now or later', async () => {
    for (const answer of [() => full, async () => full]) {
      expect(await setUp(policer(answer)).policer.check(check)).toEqual({ decidedBy: 'policer', verdict: full });
    }
  });

  test('is synchronous where the one inside is', () => {
    expect(setUp(policer(() => full)).policer.check(check)).not.toBeInstanceOf(Promise);
  });

  test('passes the check on as it is, to both', async () => {
    const [inside, standIn] = [vi.fn(rejects('Connection is closed.')), { check: vi.fn(() => full) }];
    await setUp(policer(inside), { standIn }).policer.check(check);
    expect([inside.mock.calls, standIn.check.mock.calls]).toEqual([[[check]], [[check]]]);
  });

  test('refuses where even the stand-in fails', async () => {
    const standIn = {
      check: () => {
        throw new Error('no memory');
      },
    };
    const { policer: broken, lines } = setUp(policer(rejects('Connection is closed.')), { standIn });
    expect(await broken.check(check)).toEqual({ decidedBy: 'closed' });
    expect(lines.map(([line]) => line)).toEqual(['outage begins', 'fault begins']);
  });

  test('ignores an answer that comes late, also one that is an error', async () => {
    const answers: ((verdict: PolicerVerdict | Promise<never>) => void)[] = [];
    const { policer: slow } = setUp(policer(() => new Promise((resolve) => answers.push(resolve))));
    const judged = [slow.check(check), slow.check(check)];
    expect(await Promise.all(judged)).toEqual([{ decidedBy: 'open' }, { decidedBy: 'open' }]);
    answers[0]?.(full);
    answers[1]?.(Promise.reject(new Error('Connection is closed.')));
    // An unhandled rejection would fail the run.
    await new Promise(setImmediate);
    expect(await Promise.all(judged)).toEqual([{ decidedBy: 'open' }, { decidedBy: 'open' }]);
  });

  test('leaves Redis alone once it is known to be away, and asks it again with one call at a time', async () => {
    let answer: Policer['check'] = rejects('Connection is closed.');
    const inside = policer((each) => answer(each));
    const { policer: guarded, advance } = setUp(inside);
    for (let i = 0; i < 50; i += 1) expect(await guarded.check(check)).toEqual({ decidedBy: 'open' });
    expect(inside.asked()).toBe(1);
    advance(100);
    await Promise.all(Array.from({ length: 50 }, () => guarded.check(check)));
    expect(inside.asked()).toBe(2);
    answer = async () => full;
    advance(200);
    expect(await guarded.check(check)).toEqual({ decidedBy: 'policer', verdict: full });
    expect(await guarded.check(check)).toEqual({ decidedBy: 'policer', verdict: full });
  });

  test('goes on with what the one inside can say without asking, while Redis is left alone', async () => {
    let inHand: PolicerVerdict | undefined = full;
    const inner = {
      ...policer(() => Promise.reject(new Error('Connection is closed.'))),
      checkUnasked: () => inHand,
    };
    const { policer: outside, lines } = setUp(inner, { standIn: 'closed' });
    expect(await outside.check(check)).toEqual({ decidedBy: 'closed' });
    expect(outside.check(check)).toEqual({ decidedBy: 'policer', verdict: full });
    inHand = undefined;
    expect(outside.check(check)).toEqual({ decidedBy: 'closed' });
    expect(inner.asked()).toBe(1);
    expect(lines).toHaveLength(1);
  });

  test('does not take an answer that took no asking for a sign of Redis', async () => {
    let answer: Policer['check'] = rejects('Connection is closed.');
    const inside = policer((each) => answer(each));
    const { policer: guarded, advance, lines } = setUp(inside);
    await guarded.check(check);
    advance(5000);
    answer = () => full;
    expect(guarded.check(check)).toEqual({ decidedBy: 'policer', verdict: full });
    answer = rejects('Connection is closed.');
    await guarded.check(check);
    expect(await guarded.check(check)).toEqual({ decidedBy: 'open' });
    // That was a probe of the same outage: the next one comes after twice the first pause.
    advance(199);
    await guarded.check(check);
    expect(inside.asked()).toBe(3);
    expect(lines.map(([line]) => line)).toEqual(['outage begins']);
  });

  test('goes on asking where the one inside makes a mistake', async () => {
    const inside = policer(rejects('WRONGTYPE Operation'));
    const { policer: guarded } = setUp(inside);
    for (let i = 0; i < 10; i += 1) await guarded.check(check);
    expect(inside.asked()).toBe(10);
  });
});

describe('an outage is told of', () => {
  test('once when it begins, and once when it is over, with how many calls were decided without Redis', async () => {
    let answer: Policer['check'] = rejects('OOM command not allowed');
    const { policer: guarded, lines, advance } = setUp(policer((each) => answer(each)));
    for (let i = 0; i < 7; i += 1) await guarded.check(check);
    expect(lines).toEqual([['outage begins', { policy: 'api', reason: 'OOM command not allowed' }]]);
    advance(300);
    await guarded.check(check);
    answer = async () => full;
    advance(400);
    await guarded.check(check);
    expect(lines).toHaveLength(1);
    advance(1000);
    for (let i = 0; i < 7; i += 1) await guarded.check(check);
    expect(lines.slice(1)).toEqual([['outage ends', { decisions: 8, lastedMs: 300 }]]);
  });

  test('as one where Redis comes and goes', async () => {
    let answer: Policer['check'] = never;
    const { policer: guarded, lines, advance } = setUp(policer((each) => answer(each)));
    for (let i = 0; i < 4; i += 1) {
      answer = rejects('Connection is closed.');
      await guarded.check(check);
      answer = async () => full;
      advance(900);
      await guarded.check(check);
    }
    expect(lines.map(([line]) => line)).toEqual(['outage begins']);
  });

  test('and so is a mistake, apart from it, with what was wrong', async () => {
    const { policer: guarded, lines } = setUp(policer(rejects('WRONGTYPE Operation')));
    for (let i = 0; i < 3; i += 1) await guarded.check(check);
    expect(lines).toEqual([['fault begins', { policy: 'api', reason: 'WRONGTYPE Operation' }]]);
  });
});

describe('giving back', () => {
  const giving = (giveBack: () => void | Promise<void>) => ({ verdict: 'conforming', readings: [], giveBack }) as const;

  test('never rejects and never hangs', async () => {
    const { policer: guarded } = setUp(policer(() => conforming));
    await guarded.giveBack(giving(() => undefined));
    await guarded.giveBack(giving(never));
    await guarded.giveBack(giving(rejects('Connection is closed.')));
    await guarded.giveBack(giving(rejects('WRONGTYPE Operation')));
    await guarded.giveBack(
      giving(() => {
        throw new Error('thrown');
      }),
    );
  });

  test('leaves a Redis that is away alone', async () => {
    const { policer: guarded } = setUp(policer(rejects('Connection is closed.')));
    await guarded.check(check);
    const giveBack = vi.fn();
    await guarded.giveBack(giving(giveBack));
    expect(giveBack).not.toHaveBeenCalled();
  });
});

describe('a deadline', () => {
  /** Keeps this process from doing anything else. */
  function standStill(ms: number): void {
    const until = performance.now() + ms;
    while (performance.now() < until);
  }

  test('is not over for an answer that came while this process stood still', async () => {
    const answer = sleep(1, 'answer');
    const waiting = withinDeadline(answer, 10);
    standStill(60);
    expect(await waiting).toBe('answer');
  });

  test('is not over for an answer that lies there already when this process goes on', async () => {
    // From here the loop comes to its timers before it looks at what has come in.
    await new Promise(setImmediate);
    const waiting = withinDeadline(stat('.'), 100);
    standStill(120);
    expect((await waiting).isDirectory()).toBe(true);
  });

  test('is over for one that has still not come', async () => {
    const waiting = withinDeadline(never(), 10);
    standStill(60);
    await expect(waiting).rejects.toThrow('no answer within 10 ms');
  });

  test('holds for each answer that was asked for in one turn, whatever becomes of the others', async () => {
    const deadline = new Deadline(50);
    const answers = [Promise.resolve(1), never(), Promise.reject(new Error('away')), never()];
    const settled = await Promise.allSettled(answers.map((answer) => deadline.within<unknown>(answer)));
    expect(settled).toEqual([
      { status: 'fulfilled', value: 1 },
      { status: 'rejected', reason: new Late(50) },
      { status: 'rejected', reason: new Error('away') },
      { status: 'rejected', reason: new Late(50) },
    ]);
  });

  test('leaves nothing to wait for once all of its answers are there', async () => {
    const clear = vi.spyOn(globalThis, 'clearTimeout');
    const deadline = new Deadline(600_000);
    const immediately = () => new Promise((resolve) => setImmediate(resolve));
    await Promise.all([deadline.within(immediately()), deadline.within(immediately())]);
    expect(clear).toHaveBeenCalledTimes(1);
    clear.mockRestore();
  });
});
