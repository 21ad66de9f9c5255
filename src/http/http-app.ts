import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify';
import type { MemoryState } from '../redis/memory-watch.js';
import type { OnCancelled } from '../shaping/bucket-control.js';
import type { Shaping } from '../shaping/shaping.js';
import type { DoorTally } from './door-tally.js';
import type { FailedAttempts } from './failed-attempts.js';
import type { Following } from './following.js';
import type { Keyring } from './keyring.js';
import type { PolicedParts } from './policed-parts.js';
import type { DoorKeeper } from './read-job.js';
import type { ReadyReport } from './ready-report.js';

/** A Fastify instance whose handlers are typed by the schemas of their routes. */
export type HttpApp = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

/** What the routes stand on. */
export interface RouteParts {
  readonly shaping: Shaping;
  readonly keeper: DoorKeeper;
  readonly policed: PolicedParts;
  readonly keyring: Keyring;
  /** Wrong keys, wherever they were shown. */
  readonly failures: FailedAttempts;
  readonly following: Following;
  readonly tally: DoorTally;
  /** Hears of jobs that are cancelled before they run. */
  readonly onCancelled: OnCancelled;
  readonly ready: () => Promise<ReadyReport>;
  /** Whether the store has room for more jobs, as last seen. */
  readonly memory: () => MemoryState;
  /** 0 to 1, exclusive of 1. */
  readonly random: () => number;
  readonly jobBytes: number;
  readonly batchBytes: number;
}
