import { answerMeasurement } from '../answer-measurement.js';
import { benchJobBytes } from './job-bytes.js';
import { benchRegistered } from './registered.js';

await answerMeasurement({ registered: benchRegistered, 'job-bytes': benchJobBytes });
