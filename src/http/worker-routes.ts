import type { RemoteTypes } from '../shaping/remote-work.js';
import type { Closing } from './closing.js';
import type { HttpApp } from './http-app.js';
import { workerClaim } from './routes/worker-claim.js';
import { workerHeartbeat } from './routes/worker-heartbeat.js';
import { workerEnds, workerReports } from './routes/worker-runs.js';
import type { Seats } from './seats.js';

/** What the routes of workers stand on. */
export interface WorkerParts {
  readonly remote: RemoteTypes;
  /** Of claims that wait, by the key of their worker. */
  readonly claims: Seats;
  readonly closing: Closing;
  /** 0 to 1, exclusive of 1. */
  readonly random: () => number;
}

/** The routes of workers elsewhere, in whatever language. */
export function workerRoutes(app: HttpApp, parts: WorkerParts): void {
  for (const add of [workerClaim, workerHeartbeat, workerReports, workerEnds]) add(app, parts);
}
