import { afterEach, describe, expect, it } from 'vitest';
import { callReferee } from './call-referee.js';
import type { Contract } from './contract.js';
import { Referee } from './referee.js';
import type { Trace } from './trace.js';

const CONTRACT: Contract = {
  types: [{ type: 'ocr' }],
  buckets: [{ type: 'ocr', tenant: 'acme', ratePerSecond: 1000 }],
};
const WORK = { job: 'j1', type: 'ocr', tenant: 'acme', cost: 1, attempt: 1 };

let referee: Referee | undefined;
afterEach(async () => {
  await referee?.stop();
  referee = undefined;
});

async function started(apart: boolean, contract = CONTRACT): Promise<Referee> {
  referee = await Referee.start({ contract, apart });
  return referee;
}

/** What a client records of a job that was admitted and seen completed. */
function recordLife(of: Referee, job: string): void {
  const now = of.now();
  const body = { id: job, state: 'active' };
  const request = { type: 'ocr', tenant: 'acme', priority: 4, delayMs: 0, cost: 1 };
  of.recordAdmission({ ...request, sentAt: now - 2, answeredAt: now - 1, status: 202, body });
}

const kinds = (trace: Trace) => trace.map(({ kind }) => kind);

describe.each([
  ['in this process', false],
  ['as a process of its own', true],
])('the referee %s', (_, apart) => {
  it('sees a run from its start to its end, by its own clock', async () => {
    const running = await started(apart);
    const before = running.now();
    const { run } = await callReferee(running.url, { ...WORK, workMs: 20, outcome: 'failed' });
    const after = running.now();
    const [start, end] = await running.trace();
    expect(start).toMatchObject({ kind: 'start', run, ...WORK });
    expect(end).toMatchObject({ kind: 'end', run, outcome: 'failed' });
    const instants = [before, start?.kind === 'start' && start.at, end?.kind === 'end' && end.at, after];
    expect(instants).toEqual(instants.toSorted((a, b) => Number(a) - Number(b)));
  });

  it('sees that the process at work has gone', async () => {
    const running = await started(apart);
    const caller = new AbortController();
    const call = callReferee(running.url, { ...WORK, workMs: 60_000 }, caller.signal);
    call.catch(() => undefined);
    await running.until((trace) => kinds(trace).includes('start'));
    caller.abort();
    await running.until((trace) => kinds(trace).includes('gone'));
    expect(kinds(await running.trace())).toEqual(['start', 'gone']);
  });

  it('finds nothing wrong with a job that was admitted, ran and ended', async () => {
    const running = await started(apart);
    recordLife(running, 'j1');
    await callReferee(running.url, WORK);
    running.recordSight({
      job: 'j1',
      sentAt: running.now(),
      answeredAt: running.now(),
      status: 200,
      state: 'completed',
    });
    const verdict = await running.expectNoViolations();
    expect(verdict.seen).toEqual({ admitted: 1, refused: 0, starts: 1, buckets: 1, longestWayMs: expect.any(Number) });
  });

  it('reports a job that ran and was never admitted', async () => {
    const running = await started(apart);
    await callReferee(running.url, WORK);
    await expect(running.expectNoViolations()).rejects.toThrow('G5 BROKEN 1 times');
  });
});

describe('the referee', () => {
  it('does not call a test without a single run a proof', async () => {
    const running = await started(false);
    await expect(running.expectNoViolations()).rejects.toThrow('it proves nothing');
  });

  it('refuses a trace of a bucket that its contract does not name', async () => {
    const running = await started(false);
    await callReferee(running.url, { ...WORK, tenant: 'globex' });
    await expect(running.verdict()).rejects.toThrow('ocr/globex, of which the contract says nothing');
  });

  it('answers a handler that calls it wrongly with what is wrong', async () => {
    const running = await started(false);
    await expect(callReferee(running.url, { ...WORK, cost: Number.NaN })).rejects.toThrow(
      'must be numbers of at least 0',
    );
    const answer = await fetch(`${running.url}/start`, { method: 'POST', body: '{' });
    expect(answer.status).toBe(400);
    expect(await running.trace()).toEqual([]);
  });

  it('gives up waiting for what does not happen', async () => {
    const running = await started(false);
    await expect(running.until(() => false, 1)).rejects.toThrow('did not happen within 1 ms');
  });
});
