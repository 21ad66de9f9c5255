/**
 * Headgate as a library: what a program of yours may import from `headgate`. docs/library.md shows how the parts go
 * together; handlers import from `headgate/handler`.
 *
 * Nothing here opens Redis, listens or reads the environment behind the caller's back: who opens, closes.
 */

/** The configuration: read and checked from a file, and what it says of one bucket. */
export {
  type Config,
  ConfigError,
  type ConfigProblem,
  type Mode,
  type PolicyConfig,
  type ProfileOverride,
  type RouteConfig,
  type TenantConfig,
  type TierConfig,
  type TrustProxy,
  type TypeConfig,
} from './config/config.js';
export { effectiveProfile } from './config/effective-profile.js';
/** Changes at run time: the file's configuration and what the API put over it. */
export { LiveConfig } from './config/live-config.js';
export { type LoadOptions, loadConfig } from './config/load-config.js';
/** The HTTP surface: built, not listening. */
export { type AppParts, buildApp } from './http/app.js';
export { type Door, type DoorType, doorOf } from './http/door.js';
export type { HttpLimits } from './http/http-limits.js';
export { createKeyring, hashKey, type KeyEntry, type Keyring, type Principal } from './http/keyring.js';
export type { PolicedParts } from './http/policed-parts.js';
export type { ReadyReport } from './http/ready-report.js';
/** Policing: now or not at all. The plugins for fastify and express are `headgate/fastify` and `headgate/express`. */
export type { Limit, RateLimit, WindowLimit } from './model/limit.js';
/** The words in which everything is answered. */
export { type Capacity, DEFAULT_CAPACITY, DEFAULT_PROFILE, type Profile } from './model/profile.js';
export type {
  Admission,
  Admitted,
  Basis,
  Cancellation,
  JobPage,
  JobState,
  JobView,
  NewJob,
  Rejection,
  StartPromise,
} from './model/verdict.js';
export { clientAddress } from './policing/client-address.js';
export { openPolicing, type PolicingOptions } from './policing/open-policing.js';
export type { Caller, Decision, DecisionCount, LimitState, Policing, PolicingRequest } from './policing/policing.js';
export { type RouteTable, routeTable } from './policing/route-table.js';
/** Connections that never hang. Any connection of ioredis does as well. */
export {
  type ConnectionOptions,
  closeConnection,
  openConnection,
  untilReady,
} from './redis/connection.js';
export { decodeTenant, type EncodedTenant, encodeTenant } from './redis/keys.js';
export { RedisUnavailable } from './redis/outage.js';
export type { RedisTarget } from './redis/redis-target.js';
/** Admission and reading, without HTTP. */
export { configSettings } from './shaping/config-settings.js';
export { FEED_DEADLINE_MS, type JobFeed, type JobWatcher, RedisJobFeed } from './shaping/job-feed.js';
export { newJobId, parseJobId } from './shaping/job-id.js';
export { type KeyDirectory, RemoteKeyDirectory } from './shaping/key-directory.js';
export { LiveSettings } from './shaping/live-settings.js';
export { OverrideFollower } from './shaping/override-follower.js';
export { OverrideStore } from './shaping/override-store.js';
export { RedisShaping } from './shaping/redis-shaping.js';
export type { Settings, TypeSettings } from './shaping/settings.js';
/** BullMQ's own `Queue` on a bucket. */
export {
  NotAdmitted,
  RefusedOnShapedQueue,
  ShapedBackend,
  type ShapedQueueParts,
  shapedBackendFactory,
} from './shaping/shaped-backend.js';
export type {
  BucketPage,
  BucketView,
  DoorAnswer,
  JobFilter,
  OutputChunk,
  Quote,
  QuotedJobs,
  QuotedStart,
  Shaping,
  TypeView,
} from './shaping/shaping.js';
export { syncProfiles } from './shaping/sync-profiles.js';
export { RedisTenantKeys, type TenantKeys } from './shaping/tenant-keys.js';

/** A logger as {@link buildApp} expects it. */
export { createLogger, type Logger } from './telemetry/logger.js';
