import type { Mode } from '../model/profile.js';

export type { Mode };

/** The words of the configuration, the default first. */
export const MODES = ['shape', 'police'] as const satisfies readonly Mode[];
