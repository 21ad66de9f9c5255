import { benchBullmq } from './bullmq.js';
import { benchHeadgate } from './headgate.js';
import { benchLateness } from './lateness.js';
import { benchQuiet } from './quiet.js';
import { benchWorkerPerTenant } from './worker-per-tenant.js';

/** One measurement in a process of its own: `measure.ts NAME SOCKET OPTIONS`, the answer as JSON on standard output. */
const [name, socketPath = '', options = '{}'] = process.argv.slice(2);
const given = JSON.parse(options);

const measurements: Record<string, () => Promise<unknown>> = {
  headgate: () => benchHeadgate(socketPath, given),
  bullmq: () => benchBullmq(socketPath, given),
  'worker-per-tenant': () => benchWorkerPerTenant(socketPath, given),
  quiet: () => benchQuiet(socketPath, given),
  lateness: () => benchLateness(socketPath, given),
};

const measurement = measurements[name ?? ''];
if (!measurement) throw new Error(`no measurement ${name}; there are: ${Object.keys(measurements).join(', ')}`);
process.stdout.write(`${JSON.stringify(await measurement())}\n`);
process.exit(0);
