import { fileURLToPath } from 'node:url';
import type { Contract, Tolerances } from '../../referee/contract.js';
import { textField } from '../../referee/json-field.js';
import { Referee } from '../../referee/referee.js';
import { type Answered, Witness } from '../../referee/witness.js';
import { HeadgateFolder } from '../../support/headgate-process.js';

/** A handler whose work the referee does. */
export const REFEREE_HANDLER = fileURLToPath(new URL('../../referee/referee-handler.ts', import.meta.url));
export const ADMIN_KEY = 'admin-key-of-the-system-tests';

/** Headgate over a folder of its own, with a referee that its handlers call. */
export interface RefereedSystem {
  readonly referee: Referee;
  readonly folder: HeadgateFolder;
  /** A client that speaks for any tenant, and reports to the referee, to the API at `url`. */
  witness(url: string): Witness;
  /** `GET` with the admin key; the parsed body. */
  get(url: string, path: string): Promise<unknown>;
  /** Ends all of it. */
  end(): Promise<void>;
}

/** What a system is configured with: every type is served by the referee's handler. */
export interface SystemConfig {
  readonly types: Readonly<Record<string, object>>;
  readonly [field: string]: unknown;
}

/**
 * Starts the referee and writes the configuration; starts no process of Headgate.
 *
 * Node writes the `Date` of its answers from a text that it renews once a second by a timer: where the machine is busy it
 * is late, and a contract for such a run says `separateClocks`.
 */
export async function refereedSystem(
  config: SystemConfig,
  contract: Contract,
  tolerances: Partial<Tolerances> = {},
): Promise<RefereedSystem> {
  const referee = await Referee.start({ contract, tolerances });
  const folder = await HeadgateFolder.create({
    ...config,
    admin: { keys: [ADMIN_KEY] },
    tenants: { keyed: { key: 'a-key-so-that-none-is-made' }, ...asObject(config.tenants) },
    types: Object.fromEntries(
      Object.entries(config.types).map(([name, type]) => [
        name,
        { handler: REFEREE_HANDLER, options: { referee: referee.url }, ...type },
      ]),
    ),
  });
  return {
    referee,
    folder,
    witness: (url) => new Witness(referee, { baseUrl: url, keyOf: () => ADMIN_KEY, admin: true }),
    get: async (url, path) => {
      const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${ADMIN_KEY}` } });
      return response.json();
    },
    end: async () => {
      await folder.remove();
      await referee.stop();
    },
  };
}

function asObject(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {};
}

/** The id of the job that was answered; empty when there is none. */
export function idOf(answer: Answered | undefined): string {
  return textField(answer?.body, 'id') ?? '';
}
