import type { ListenAddress } from './listen-address.js';
import type { CommandLine } from './outside-settings.js';

/** What the command line hands to a worker process, as one JSON argument. */
export interface WorkerOrder {
  /** As for loading the configuration; absent fields are as there. */
  readonly load: {
    readonly file?: string;
    readonly overrides?: CommandLine;
  };
  /** Types to serve; all that have a handler when absent. */
  readonly types?: readonly string[];
  /** Slots by type. */
  readonly concurrency: Readonly<Record<string, number>>;
  readonly allowDownload: boolean;
  /** Where probes are answered; nowhere when absent. */
  readonly healthListen?: ListenAddress;
}
