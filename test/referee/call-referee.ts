import { monotonicMs } from './clock.js';
import type { EndCall, StartCall } from './handler-calls.js';
import { numberField } from './json-field.js';

/** What a handler tells the referee about the job in its hands. */
export type Work = Omit<StartCall, 'workMs' | 'calledAt'> & {
  readonly workMs?: number;
  readonly outcome?: EndCall['outcome'];
};

/**
 * Lets the referee at `url` do a job's work: its start, `workMs` of waiting there, its end. For use in handlers.
 *
 * Resolves with the referee's number of the run; rejects with the signal's reason, or when the referee is not there.
 */
export async function callReferee(url: string, work: Work, signal?: AbortSignal): Promise<{ readonly run: number }> {
  const calledAt = monotonicMs();
  const { outcome = 'ok', ...start } = work;
  const run = numberField(await post(`${url}/start`, { ...start, calledAt }, signal), 'run');
  if (run === undefined) throw new Error('the referee gave the run no number');
  await post(`${url}/end`, { run, outcome }, signal);
  return { run };
}

async function post(url: string, body: object, signal: AbortSignal | undefined): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
  if (!response.ok) throw new Error(`the referee answered ${response.status}: ${await response.text()}`);
  return response.json();
}
