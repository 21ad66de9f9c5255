import { benchDecisions } from './decisions.js';
import { benchLeaseMember } from './lease-member.js';
import { benchMemory } from './memory.js';

/** One measurement in a process of its own: `measure.ts NAME SOCKET OPTIONS`, the answer as JSON on standard output. */
const [name, socketPath = '', options = '{}'] = process.argv.slice(2);
const given = JSON.parse(options);

const measurements: Record<string, () => Promise<unknown>> = {
  decisions: () => benchDecisions(socketPath, given),
  memory: () => benchMemory(socketPath, given),
  'lease-member': () => benchLeaseMember(socketPath, given),
};

const measurement = measurements[name ?? ''];
if (!measurement) throw new Error(`no measurement ${name}; there are: ${Object.keys(measurements).join(', ')}`);
process.stdout.write(`${JSON.stringify(await measurement())}\n`, () => process.exit(0));
