import { answerMeasurement } from '../answer-measurement.js';
import { benchDecisions } from './decisions.js';
import { benchLeaseMember } from './lease-member.js';
import { benchMemory } from './memory.js';

await answerMeasurement({ decisions: benchDecisions, memory: benchMemory, 'lease-member': benchLeaseMember });
