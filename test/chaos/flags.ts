import { parseArgs } from 'node:util';
import type { ChaosOrder } from './run-chaos.js';

export const USAGE = `usage: npm run chaos -- [--seed N] [--minutes M] [--durability always|everysec] [--cut] [--json FILE] [--trace FILE]

  --seed N        what is drawn: faults, load; 1 unless stated
  --minutes M     how long faults go on, 0.1 to 600; 3 unless stated
  --durability D  of Redis' append-only file; everysec unless stated
  --cut           at each kill of Redis its file is cut back to what was synced, as a power cut would; needs strace
  --json FILE     where the summary goes as JSON, too
  --trace FILE    where the referee's trace goes, a line for each event, when the run fails

Exit code 0: nothing was lost and nothing broken; 1: something was; 2: wrong input.`;

export type Flags =
  | { readonly kind: 'run'; readonly order: ChaosOrder; readonly jsonFile: string | undefined }
  | { readonly kind: 'help' }
  | { readonly kind: 'wrong'; readonly fault: string };

export function readFlags(args: readonly string[]): Flags {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  const options = {
    seed: text,
    minutes: text,
    durability: text,
    json: text,
    trace: text,
    cut: flag,
    help: flag,
  } as const;
  try {
    const { values } = parseArgs({ args: [...args], options });
    if (values.help === true) return { kind: 'help' };
    const { seed = '1', minutes = '3', durability = 'everysec', cut = false, json, trace } = values;
    if (!/^\d{1,9}$/.test(seed)) return wrong(`--seed: expected a whole number, got ${seed}`);
    const seconds = Number(minutes) * 60;
    if (!(seconds >= 6 && seconds <= 36_000)) return wrong(`--minutes: expected 0.1 to 600, got ${minutes}`);
    if (durability !== 'always' && durability !== 'everysec') {
      return wrong(`--durability: expected always or everysec, got ${durability}`);
    }
    return { kind: 'run', order: { seed: Number(seed), seconds, durability, cut, traceFile: trace }, jsonFile: json };
  } catch (error) {
    return wrong(error instanceof Error ? error.message : String(error));
  }
}

function wrong(fault: string): Flags {
  return { kind: 'wrong', fault };
}
