import type { IncomingMessage } from 'node:http';
import { environment } from '../../src/config/environment.js';
import { type HttpOptions, httpOptions } from '../../src/config/http-options.js';
import { defineHandler, type HandlerContext, Unrecoverable, UpstreamBusy } from '../handler.js';
import { reached } from './http/reached.js';
import { type Answer, readAnswer } from './http/read-answer.js';
import { retryAfterMs } from './http/retry-after.js';
import { send } from './http/send.js';

/** What `ctx.charge` takes. */
const LEAST_COST = 0.001;
const GREATEST_COST = 10_000;

/**
 * Forwards a job to an upstream: `data` goes as JSON to `options.url`, and what comes back is the result. An answer that
 * streams is the job's output while it comes. See docs/handlers.md for the options and for what each answer means.
 */
export default defineHandler({
  check: (options) => void httpOptions(options, environment().variables),
  run: async (job, ctx) => {
    const options = httpOptions(job.options, environment().variables);
    const response = await reached(() => send(options, JSON.stringify(job.data), ctx.signal), ctx.signal);
    try {
      refuseFailure(response, options);
      const { result, cost } = await reached(() => answerOf(response, options, ctx), ctx.signal);
      if (cost !== undefined) await ctx.charge(cost);
      else if (options.cost !== null) ctx.log.warn('the answer of the upstream does not say what the job cost');
      return result;
    } finally {
      response.destroy();
    }
  },
});

/** @throws What an answer that is no success means for the job. Its text is not repeated: it may hold anything. */
function refuseFailure({ statusCode = 0, headers }: IncomingMessage, { busyScope }: HttpOptions): void {
  if (statusCode >= 200 && statusCode < 300) return;
  const said = `the upstream answered ${statusCode}`;
  if (statusCode === 429 || statusCode === 503) {
    const ms = retryAfterMs(headers['retry-after'], headers.date, Date.now());
    throw ms === undefined ? new Error(said) : new UpstreamBusy(ms, { scope: busyScope });
  }
  if (statusCode >= 500) throw new Error(said);
  throw new Unrecoverable(statusCode < 400 ? `${said}: redirects are not followed` : said);
}

function answerOf(response: IncomingMessage, options: HttpOptions, ctx: HandlerContext): Promise<Answer> {
  const emit = async (chunk: unknown): Promise<void> => {
    try {
      await ctx.emit(chunk);
    } catch (error) {
      // What is too much stays too much, however often it is tried.
      throw error instanceof TypeError ? new Unrecoverable(error.message, { cause: error }) : error;
    }
  };
  return readAnswer(response, options.maxResponseBytes, emit, (value) => costIn(value, options.cost));
}

/** Units, brought into the range of what a job may cost. */
function costIn(value: unknown, rule: HttpOptions['cost']): number | undefined {
  if (rule === null) return undefined;
  let found = value;
  for (const name of rule.path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined;
    found = new Map<string, unknown>(Object.entries(found)).get(name);
  }
  if (typeof found !== 'number' || found < 0) return undefined;
  return Math.min(Math.max(found / rule.per, LEAST_COST), GREATEST_COST);
}
