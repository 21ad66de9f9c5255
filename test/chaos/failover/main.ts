import { parseArgs } from 'node:util';
import { type FailoverOrder, runFailover } from './run.js';
import type { Kind } from './servers.js';

const USAGE = `usage: npm run chaos:failover -- [--kind cluster|slots|sentinel|pause] [--jobs N] [--seed N] [--wait N] [--trace FILE]

  --kind K  cluster: a master of three is killed with kill -9 in the middle of the jobs; slots: slots move from master to
            master; sentinel: the master that Sentinels watch is killed; pause: a worker stands still for a minute
            (SIGSTOP); cluster unless stated
  --jobs N  how many jobs are accepted in all, 200 to 1000000; 20000 unless stated
  --seed N  what is drawn; 1 unless stated
  --wait N  waitForReplicas: replicas that hold a job before it is answered 202, 0 or 1; 1 unless stated
  --trace F where the referee's trace goes, a line for each event, when the run fails

Exit code 0: nothing was lost and nothing broken; 1: something was; 2: wrong input.`;

const KINDS: readonly Kind[] = ['cluster', 'slots', 'sentinel', 'pause'];
const say = (line: string) => process.stdout.write(`${line}\n`);

function orderOf(args: readonly string[]): FailoverOrder | string {
  const text = { type: 'string' } as const;
  const options = { kind: text, jobs: text, seed: text, wait: text, trace: text };
  const { values } = parseArgs({ args: [...args], options });
  const { kind: named = 'cluster', jobs = '20000', seed = '1', wait = '1', trace } = values;
  const kind = KINDS.find((each) => each === named);
  if (kind === undefined) return `--kind: expected ${KINDS.join(', ')}, got ${named}`;
  if (!(/^\d{3,7}$/.test(jobs) && Number(jobs) >= 200 && Number(jobs) <= 1e6))
    return `--jobs: expected 200 to 1000000, got ${jobs}`;
  if (!/^\d{1,9}$/.test(seed)) return `--seed: expected a whole number, got ${seed}`;
  if (!/^[01]$/.test(wait)) return `--wait: expected 0 or 1, got ${wait}`;
  return { kind, jobs: Number(jobs), seed: Number(seed), waitForReplicas: Number(wait), traceFile: trace };
}

/** The command line of a failover run; answers its exit code. */
async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help')) {
    say(USAGE);
    return 0;
  }
  let order: FailoverOrder | string;
  try {
    order = orderOf(args);
  } catch (error) {
    order = error instanceof Error ? error.message : String(error);
  }
  if (typeof order === 'string') {
    process.stderr.write(`${order}\n${USAGE}\n`);
    return 2;
  }
  const summary = await runFailover(order, say);
  say(JSON.stringify(summary, null, 2));
  return summary.passed ? 0 : 1;
}

process.exit(await main(process.argv.slice(2)));
