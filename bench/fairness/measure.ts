import { answerMeasurement } from '../answer-measurement.js';
import { benchPaced } from './paced.js';
import { benchProcesses } from './processes.js';
import { benchPromised } from './promised.js';
import { benchScarce } from './scarce.js';

await answerMeasurement({ scarce: benchScarce, paced: benchPaced, promised: benchPromised, processes: benchProcesses });
