/** What becomes of a job above its rate: refused at the door, or queued until its turn. */
export type Mode = 'police' | 'shape';

/** The words of the configuration, the default first. */
export const MODES = ['shape', 'police'] as const satisfies readonly Mode[];
