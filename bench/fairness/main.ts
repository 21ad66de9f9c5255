import { parseArgs } from 'node:util';
import { startRedis } from '../../test/support/redis-server.js';
import { shown, table } from '../markdown.js';
import { CONTENDERS } from './contenders.js';
import type { Errors } from './errors.js';
import type { Paced } from './paced.js';
import { fillPage } from './page.js';
import { writePlot } from './plot.js';
import type { Processes } from './processes.js';
import { middleOf, pacedTable, promiseTable, type Runs, scarceTable, weightedTable } from './rows.js';
import type { Scarce } from './share-watch.js';
import { take } from './take.js';

const USAGE = `Measures fairness and punctuality, of Headgate and others, and fills docs/fairness.md with tables and plots.

  npm run bench:fairness -- [--runs N] [--sizes 10,100,1000,10000] [--seconds N] [--dry]

  --runs N       how often everything is measured; medians are shown (1)
  --sizes LIST   numbers of tenants (10,100,1000,10000)
  --seconds N    length of the measurements of pace and of promises (20)
  --process-seconds N   length of the run with real processes (60)
  --dry          print the tables alone, leave the page and its plots as they are
`;

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '1' },
    sizes: { type: 'string', default: '10,100,1000,10000' },
    seconds: { type: 'string', default: '20' },
    'process-seconds': { type: 'string', default: '60' },
    dry: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  process.stdout.write(USAGE);
  process.exit(0);
}

const runs = Number(values.runs);
const sizes = values.sizes.split(',').map(Number);
const seconds = Number(values.seconds);
const docs = new URL('../../docs/', import.meta.url);
const server = await startRedis();
const { socketPath } = server;

/** Takes a measurement of every contender at every size that it goes up to, `runs` times in turn. */
async function measured<Result>(name: string, options: object): Promise<Runs<Result>> {
  const results = new Map<string, Map<number, Result[]>>();
  for (let run = 0; run < runs; run += 1) {
    for (const tenants of sizes) {
      for (const [contender, { maxTenants }] of Object.entries(CONTENDERS)) {
        if (tenants > maxTenants) continue;
        const ofContender = results.get(contender) ?? new Map<number, Result[]>();
        results.set(contender, ofContender);
        const result = await take<Result>(name, socketPath, { ...options, contender, tenants });
        ofContender.set(tenants, [...(ofContender.get(tenants) ?? []), result]);
      }
    }
  }
  return results;
}

/** A line for each contender: the middle of one figure over the sizes. */
function linesOf<Result>(
  results: Runs<Result>,
  read: (result: Result) => number | null,
): Map<string, (number | null)[]> {
  const at = (ofContender: ReadonlyMap<number, readonly Result[]>, size: number): number | null => {
    const value = middleOf(ofContender.get(size) ?? [], read);
    return Number.isFinite(value) ? value : null;
  };
  return new Map([...results].map(([name, ofContender]) => [name, sizes.map((size) => at(ofContender, size))]));
}

try {
  const scarce = await measured<Scarce>('scarce', {});
  const paced = await measured<Paced>('paced', { seconds });
  const weighted = new Map<number, Scarce[]>();
  const promises: [string, number, string, Errors][] = [];
  for (const tenants of sizes) {
    const options = { contender: 'Headgate', tenants, weights: [1, 2, 4, 8], maxCost: 10 };
    weighted.set(tenants, [await take<Scarce>('scarce', socketPath, options)]);
  }
  for (const tenants of sizes) {
    const ofPaced = paced.get('Headgate')?.get(tenants)?.[0]?.promises ?? {};
    for (const [basis, errors] of Object.entries(ofPaced)) promises.push(['slots free', tenants, basis, errors]);
  }
  for (const tenants of sizes) {
    const found = await take<Record<string, Errors>>('promised', socketPath, { tenants, seconds: 2 * seconds });
    for (const [basis, errors] of Object.entries(found)) promises.push(['workers scarce', tenants, basis, errors]);
  }
  const real = await take<Processes>('processes', socketPath, { seconds: Number(values['process-seconds']) });
  const processes = table(
    ['2 APIs, 3 workers, 50 tenants with weights 1, 2, 4, 8 at three times what can be served', 'value'],
    ['Jain’s index of served jobs over weight', real.jain.toFixed(4)],
    ['jobs/s', shown(real.jobsPerSecond)],
    ['a light tenant’s wait, alone: p50, p99 (ms)', `${shown(real.aloneP50Ms)}, ${shown(real.aloneP99Ms)}`],
    ['beside them: p50, p99 (ms)', `${shown(real.besideP50Ms)}, ${shown(real.besideP99Ms)}`],
  );
  const tables = {
    scarce: scarceTable(scarce),
    weighted: weightedTable(weighted),
    paced: pacedTable(paced),
    promises: promiseTable(promises),
    processes,
  };
  process.stdout.write(`${Object.values(tables).join('\n\n')}\n`);
  if (!values.dry) {
    for (const [name, text] of Object.entries(tables)) await fillPage(new URL('fairness.md', docs), name, text);
    const plots = [
      [
        'fairness-jain.svg',
        'Jain’s index while workers are scarce, 100:1 skew',
        '',
        false,
        linesOf(scarce, ({ jain }) => jain),
      ],
      [
        'fairness-newcomer.svg',
        'A newcomer’s wait while workers are scarce, p50',
        'ms',
        true,
        linesOf(scarce, ({ newcomerP50Ms }) => newcomerP50Ms),
      ],
      [
        'fairness-lateness.svg',
        'Lateness of light tenants against their own rate, p99',
        'ms',
        true,
        linesOf(paced, ({ lightP99Ms }) => Math.max(0.1, lightP99Ms)),
      ],
    ] as const;
    for (const [file, title, unit, isLogarithmic, lines] of plots) {
      await writePlot(new URL(file, docs).pathname, { title, unit, isLogarithmic, sizes, lines });
    }
  }
} finally {
  await server.stop();
}
