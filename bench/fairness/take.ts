import { inChild } from '../in-child.js';

/** Takes one of the measurements of fairness. */
export const take = inChild(new URL('measure.ts', import.meta.url));
