import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { Argument, type Command, Option } from 'commander';
import type { JobState } from '../../client/index.js';
import { JOB_STATES } from '../../model/verdict.js';
import { followTable } from '../follow-table.js';
import { endLine, jobLines, listLines, submittedLine } from '../job-lines.js';
import { amount, openRemote, type RemoteFlags, remote, wholeNumber, writeOut } from '../remote.js';
import { UsageError } from '../usage-error.js';
import { codeOfEnd, watchJob } from '../watch-job.js';

interface SubmitFlags extends RemoteFlags {
  readonly priority?: number;
  readonly delayMs?: number;
  readonly runAt?: string;
  readonly startBy?: string;
  readonly attempts?: number;
  readonly cost?: number;
  readonly idempotencyKey?: string;
  readonly wait?: true;
}

interface ListFlags extends RemoteFlags {
  readonly type: string;
  readonly state: JobState;
  readonly limit?: number;
  readonly cursor?: string;
  readonly follow?: true;
}

/** `headgate jobs …`: jobs of a running Headgate. */
export function jobCommands(program: Command, setCode: (code: number) => void): void {
  const jobs = program.command('jobs').description('submit, follow and list jobs of a running Headgate');
  const idArgument = new Argument('<id>', 'id of the job');

  remote(jobs.command('submit'))
    .description('hand in a job; prints its id and when it starts')
    .argument('<type>', 'job type')
    .argument('[data]', "payload: JSON, @FILE, or - for standard input (default: '{}')")
    .option('--priority <0-9>', '0 is first, 9 last', wholeNumber)
    .option('--delay-ms <ms>', 'join the queue so much later', wholeNumber)
    .option('--run-at <instant>', 'join the queue then (RFC 3339)')
    .option('--start-by <instant>', 'expire unless started by then (RFC 3339)')
    .option('--attempts <n>', 'tries in all', wholeNumber)
    .option('--cost <units>', 'where the type takes it from the request', amount)
    .option('--idempotency-key <key>', 'store it once under this key, however often it is sent')
    .option('--wait', 'wait for its end; the exit code is 0 when it completed')
    .action(async (type: string, data: string | undefined, flags: SubmitFlags) => {
      const { client, print } = openRemote(flags);
      const job = { type, data: await payload(data), ...termsOf(flags) };
      const options = { idempotencyKey: flags.idempotencyKey };
      if (flags.wait !== true) {
        const submitted = await client.submit(job, options);
        return print(submitted, () => [submittedLine(submitted)]);
      }
      const ended = await client.run(job, options);
      print(ended, () => [`${ended.id}  ${endLine(ended)}`]);
      setCode(codeOfEnd(ended));
    });

  remote(jobs.command('get'))
    .description('show a job')
    .addArgument(idArgument)
    .option('--wait', 'wait for its end; the exit code is 0 when it completed')
    .action(async (id: string, flags: RemoteFlags & { wait?: true }) => {
      const { client, print } = openRemote(flags);
      const job = flags.wait === true ? await client.result(id) : await client.job(id);
      print(job, () => jobLines(job));
      if (flags.wait === true) setCode(codeOfEnd(job));
    });

  remote(jobs.command('watch'))
    .description('follow a job to its end; the exit code is 0 when it completed')
    .addArgument(idArgument)
    .action(async (id: string, flags: RemoteFlags) => {
      setCode(codeOfEnd(await watchJob(openRemote(flags), id, process.stdout)));
    });

  remote(jobs.command('cancel'))
    .description('cancel a job that waits, ask one that runs to stop')
    .addArgument(idArgument)
    .action(async (id: string, flags: RemoteFlags) => {
      const { client, print } = openRemote(flags);
      const cancelled = await client.cancel(id);
      print(cancelled, () => [cancelled.state === 'cancelled' ? `${id}  cancelled` : `${id}  runs; asked to stop`]);
    });

  remote(jobs.command('retry'))
    .description('have a failed job wait again, or with --type all failed jobs of a type')
    .argument('[id]', 'id of the job')
    .option('--type <type>', 'all failed jobs of this type')
    .action(async (id: string | undefined, flags: RemoteFlags & { type?: string }) => {
      const { type } = flags;
      if ((id === undefined) === (type === undefined)) throw new UsageError('state the id of a job, or --type');
      if (id !== undefined) {
        const { client, print } = openRemote(flags);
        const job = await client.retry(id);
        return print(job, () => [`${job.id}  ${job.state}`]);
      }
      setCode(await retryAll(flags, String(type)));
    });

  remote(jobs.command('list'))
    .description('list jobs of a type and state, oldest first')
    .requiredOption('--type <type>', 'job type')
    .addOption(new Option('--state <state>', 'state').choices(JOB_STATES).default('waiting'))
    .option('--limit <n>', 'jobs in the page, 50 unless given', wholeNumber)
    .option('--cursor <cursor>', 'the cursor of the page before')
    .option('--follow', 'go on showing what it is now, until interrupted')
    .action(async ({ type, state, limit, cursor, follow, ...flags }: ListFlags) => {
      const { client, print, json } = openRemote(flags);
      const filter = { type, state, ...(limit !== undefined && { limit }), ...(cursor !== undefined && { cursor }) };
      if (follow === true) {
        const stop = new AbortController();
        process.once('SIGINT', () => stop.abort());
        const read = async () => {
          const page = await client.jobs(filter);
          return json ? [JSON.stringify(page)] : listLines(page.jobs);
        };
        return followTable(read, json ? { write: (text) => process.stdout.write(text) } : process.stdout, {
          stop: stop.signal,
        });
      }
      const page = await client.jobs(filter);
      print(page, () => [
        ...listLines(page.jobs),
        ...(page.cursor === undefined ? [] : [`more: --cursor ${page.cursor}`]),
      ]);
    });
}

function termsOf({ priority, delayMs, runAt, startBy, attempts, cost }: SubmitFlags) {
  return {
    ...(priority !== undefined && { priority }),
    ...(delayMs !== undefined && { delayMs }),
    ...(runAt !== undefined && { runAt }),
    ...(startBy !== undefined && { startBy }),
    ...(attempts !== undefined && { attempts }),
    ...(cost !== undefined && { cost }),
  };
}

/** The payload that an argument stands for. */
async function payload(argument = '{}'): Promise<Record<string, unknown>> {
  const content = await contentOf(argument);
  try {
    const data: unknown = JSON.parse(content);
    if (typeof data === 'object' && data !== null && !Array.isArray(data)) return { ...data };
  } catch {
    // Told below.
  }
  throw new UsageError(`the payload must be a JSON object such as '{"pages":3}', @FILE or -`);
}

async function contentOf(argument: string): Promise<string> {
  if (argument === '-') return text(process.stdin);
  if (!argument.startsWith('@')) return argument;
  try {
    return await readFile(argument.slice(1), 'utf8');
  } catch (error) {
    throw new UsageError(`cannot read ${argument.slice(1)}: ${error instanceof Error ? error.message : error}`);
  }
}

async function retryAll(flags: RemoteFlags, type: string): Promise<number> {
  const { client, json } = openRemote(flags);
  let retried = 0;
  let full = false;
  let cursor: string | undefined;
  do {
    const query = { type, state: 'failed', limit: 1000, tenant: flags.tenant, cursor };
    const page = await client.request<{ retried: number; full: boolean; cursor?: string }>({
      method: 'POST',
      path: '/v1/jobs/retry',
      query,
    });
    retried += page.retried;
    full = page.full;
    cursor = page.cursor;
  } while (cursor !== undefined && !full);
  const line = `${retried} jobs wait again${full ? '; the queue is full, try later for the rest' : ''}`;
  writeOut([json ? JSON.stringify({ retried, full }) : line]);
  return full ? 1 : 0;
}
