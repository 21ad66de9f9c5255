import { type Command, Option } from 'commander';
import type { WorkerOrder } from '../../config/worker-order.js';
import type { Progress } from '../../shaping/migration/bring-forward.js';
import type { MigrateOutcome } from '../migrate.js';
import { writeOut } from '../remote.js';

interface MigrateFlags {
  readonly config?: string;
  readonly data?: string;
  readonly dryRun?: true;
  readonly download: boolean;
  readonly json?: true;
}

/** How often somebody who waits is told how far it is, in milliseconds. */
const TOLD_EVERY_MS = 1000;

/** `headgate migrate`: data of an older version comes to the form that this one reads. */
export function migrateCommand(
  local: (name: string, description: string) => Command,
  loadOf: (flags: MigrateFlags) => WorkerOrder['load'],
  setCode: (code: number) => void,
): void {
  local(
    'migrate',
    'bring data of an older version forward to the form that this one reads, once its processes have ended',
  )
    .addOption(new Option('--dry-run', 'say what there is to do and who is in the way, and change nothing'))
    .addOption(new Option('--no-download', 'never fetch a Redis server from the distribution'))
    .addOption(new Option('--json', 'print JSON, one document a line: how far it is, and the outcome'))
    .addHelpText(
      'after',
      `
End all older API and worker processes, run this, then start those of this version. What is half done when it is
interrupted, it finishes when it is run again. There is no way back: copy the data first (docs/upgrade.md).

Exit code: 0 done, or nothing to do; 1 refused, nothing was changed, or interrupted; 2 data that cannot be brought forward.`,
    )
    .action(async (flags: MigrateFlags) => {
      const { migrate } = await import('../migrate.js');
      const json = flags.json === true;
      const isDryRun = flags.dryRun === true;
      const outcome = await migrate({
        load: loadOf(flags),
        allowDownload: flags.download,
        isDryRun,
        onProgress: everySoOften(TOLD_EVERY_MS, (progress) => tell(progress, json)),
      });
      writeOut(json ? [JSON.stringify(documentOf(outcome, isDryRun))] : linesOf(outcome, isDryRun));
      setCode(outcome.inTheWay.length > 0 ? 1 : 0);
    });
}

function tell(progress: Progress, json: boolean): void {
  if (json) writeOut([JSON.stringify({ outcome: 'under way', ...progress })]);
  else process.stderr.write(`${progress.buckets} buckets and ${progress.runs} runs so far\n`);
}

function documentOf({ older, closed, buckets, runs, inTheWay }: MigrateOutcome, isDryRun: boolean): object {
  const types = typesOf({ older });
  if (older.length === 0) return { outcome: 'nothing to do', types };
  return isDryRun ? { outcome: 'to do', types, inTheWay } : { outcome: 'done', types, buckets, runs, closed };
}

function linesOf({ older, closed, buckets, runs, inTheWay }: MigrateOutcome, isDryRun: boolean): string[] {
  if (older.length === 0) return ['nothing to do: all data is of the form that this version reads'];
  const types = typesOf({ older }).map(
    ({ type, format, shards }) => `${type}: format ${format}, ${shards} ${shards === 1 ? 'shard' : 'shards'}`,
  );
  if (isDryRun) return [...types, ...inTheWay.map((each) => `has to end before: ${each}`)];
  return [
    ...types,
    `brought forward: ${buckets} buckets and ${runs} runs; ${closed.length} ${closed.length === 1 ? 'library' : 'libraries'} of older versions closed`,
  ];
}

function typesOf({ older }: Pick<MigrateOutcome, 'older'>): { type: string; format: string; shards: number }[] {
  const types = [...new Set(older.map(({ type }) => type))];
  return types.map((type) => {
    const own = older.filter((each) => each.type === type);
    return { type, format: own[0]?.format ?? '', shards: own.length };
  });
}

/** Passes on a call at most every so often; the first when so long has passed. */
function everySoOften<Value>(everyMs: number, act: (value: Value) => void): (value: Value) => void {
  let last = performance.now();
  return (value) => {
    if (performance.now() - last < everyMs) return;
    last = performance.now();
    act(value);
  };
}
