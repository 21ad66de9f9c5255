import type { Durability } from './server-arguments.js';

export type LogRung = (rung: string, detail: Record<string, unknown>) => void;

export interface EmbeddedOptions {
  dataDir: string;
  durability: Durability;
  /** May a server be fetched from the distribution's packages when none is on PATH? */
  allowDownload: boolean;
  /** Where to look for programs, as in the variable PATH. Default: the system's folders. */
  path?: string;
  /** Where a fetched server is kept; may be shared by several data folders. Default: `<dataDir>/cache`. */
  cacheDir?: string;
  /** Is told each rung that was tried: `adopted`, `path`, `fetching`, `fetched`, `none`; and `loading`, `mended`, `stopped`,
   * `left running`, `lost` and `not restarted`. */
  log: LogRung;
}
