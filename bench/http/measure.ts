import { answerMeasurement } from '../answer-measurement.js';
import { benchAdd } from './bullmq-add.js';
import { benchWaiters } from './waiters.js';
import { benchWaits } from './waits.js';

await answerMeasurement({ add: benchAdd, waits: benchWaits, waiters: benchWaiters });
