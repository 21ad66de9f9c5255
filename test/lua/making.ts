import type { ChangeScript } from './script-shard.js';

/** A change of the scripts' text: what stands there, and what shall. */
export type Fault = readonly (readonly [from: string, to: string])[];

/** Makes a fault, and sees to it that it is made: a text that is not there any more makes none. */
export function making(fault: Fault): ChangeScript {
  return (name, text) =>
    fault.reduce((changed, [from, to]) => {
      if (!changed.includes(from)) throw new Error(`${name} has no text ${JSON.stringify(from)} to be changed`);
      return changed.replaceAll(from, to);
    }, text);
}
