import { asInteger } from '../../redis/reply.js';
import { describeScript, type Script } from '../../redis/script.js';
import { readLibrary } from '../../redis/script-source.js';

/** What brings stored data forward: `forward_3` from version 3 to version 4. */
export const library = readLibrary([{ file: 'forward_3' }]);

/** One step from a version to the next: see the header of its script. */
export interface Step {
  readonly from: number;
  readonly script: Script<number>;
}

const step = (from: number): Step => ({
  from,
  script: describeScript(library, `forward_${from}`, ['what', 'names...'], asInteger),
});

/** All steps in their order, without a gap. */
export const STEPS: readonly Step[] = [step(3)];
