import fc from 'fast-check';
import type { ScriptShard } from '../script-shard.js';
import { anyCommand } from './commands.js';
import { Twins } from './twins.js';

export interface AgreeOptions {
  readonly seed: number;
  /** Whether quiet buckets are swept and forgotten on the way. */
  readonly sweeps: boolean;
  readonly lists: number;
  readonly longest: number;
  /** How long a shrinking may go on after something failed, in milliseconds. */
  readonly shrinkMs: number;
  /** Whether a failure is shrunk at all. Default: true. */
  readonly shrink?: boolean;
}

/**
 * Carries out random commands on the model and on the scripts. Resolves with how many steps were taken when they agree;
 * rejects with fast-check's report otherwise: the shortest list of commands that it found, its seed and its path.
 */
export async function agree(newShard: () => ScriptShard, options: AgreeOptions): Promise<number> {
  const { seed, sweeps, lists, longest, shrinkMs, shrink = true } = options;
  let steps = 0;
  const property = fc.asyncProperty(
    fc.array(anyCommand(sweeps), { maxLength: longest, size: 'max' }),
    async (commands) => {
      const shard = newShard();
      if (sweeps) shard.keepAgeMs = 2000;
      const twins = new Twins(shard, sweeps);
      for (const command of commands) {
        await twins.step(command);
        steps += 1;
      }
    },
  );
  const limits = { interruptAfterTimeLimit: shrinkMs, markInterruptAsFailure: true, endOnFailure: !shrink };
  await fc.assert(property, { seed, numRuns: lists, ...limits });
  return steps;
}
