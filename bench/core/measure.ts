import { answerMeasurement } from '../answer-measurement.js';
import { benchBullmq } from './bullmq.js';
import { benchHeadgate } from './headgate.js';
import { benchLateness } from './lateness.js';
import { benchQuiet } from './quiet.js';
import { benchWorkerPerTenant } from './worker-per-tenant.js';

await answerMeasurement({
  headgate: benchHeadgate,
  bullmq: benchBullmq,
  'worker-per-tenant': benchWorkerPerTenant,
  quiet: benchQuiet,
  lateness: benchLateness,
});
