import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { type FastifyBaseLogger, type FastifyInstance, fastify, LogController } from 'fastify';
import type { Logger } from 'pino';
import type { TrustProxy } from '../config/trust-proxy.js';
import type { MemoryState } from '../redis/memory-watch.js';
import type { Administration } from '../shaping/administration.js';
import type { JobFeed } from '../shaping/job-feed.js';
import type { KeyDirectory } from '../shaping/key-directory.js';
import type { RemoteTypes } from '../shaping/remote-work.js';
import type { Shaping } from '../shaping/shaping.js';
import { acceptJsonBodies } from './accept-json-bodies.js';
import { adminRoutes } from './admin-routes.js';
import { answerClientError, answerExpectation } from './answer-client-error.js';
import { answerErrors, replyError } from './answer-errors.js';
import { describeApi } from './api-document.js';
import type { ApiMetrics } from './api-metrics.js';
import { compileBodyChecks } from './body-checks.js';
import type { BrowserPage } from './browser-page.js';
import { closeUnused } from './close-unused.js';
import { Closing } from './closing.js';
import type { Door } from './door.js';
import { bothTallies, NO_TALLY } from './door-tally.js';
import { FailedAttempts } from './failed-attempts.js';
import { demandKey, demandWorkerKey, firstLook } from './first-look.js';
import { followingOver } from './following.js';
import type { RouteParts } from './http-app.js';
import { DEFAULT_HTTP_LIMITS, ENVELOPE_BYTES, type HttpLimits } from './http-limits.js';
import type { Keyring } from './keyring.js';
import { logRequests } from './log-requests.js';
import { NO_POLICIES, type PolicedParts } from './policed-parts.js';
import type { ReadyReport } from './ready-report.js';
import { RouteMethods } from './route-methods.js';
import { cancelJob } from './routes/cancel-job.js';
import { followJob } from './routes/follow-job.js';
import { forwardAuth } from './routes/forward-auth.js';
import { getJob } from './routes/get-job.js';
import { getLimits } from './routes/get-limits.js';
import { getStats } from './routes/get-stats.js';
import { health, welcome } from './routes/health.js';
import { listJobs } from './routes/list-jobs.js';
import { listPolicies } from './routes/list-policies.js';
import { listTypes } from './routes/list-types.js';
import { keyedMetrics, openMetrics } from './routes/metrics.js';
import { postBatch } from './routes/post-batch.js';
import { postCheck } from './routes/post-check.js';
import { postJob } from './routes/post-job.js';
import { getQuote } from './routes/quote.js';
import { retryJobs } from './routes/retry-jobs.js';
import { Seats } from './seats.js';
import { SessionCheck } from './session-check.js';
import { requestValidators, unreadQuery } from './strict-query.js';
import { workerRoutes } from './worker-routes.js';

/** Everything that the HTTP surface stands on. */
export interface AppParts {
  readonly shaping: Shaping;
  readonly door: Door;
  readonly keyring: Keyring;
  /** Keys that are made while everything runs; without it there are none but those of `keyring`. */
  readonly directory?: KeyDirectory;
  /** Answers within a moment, whatever the state of Redis. */
  readonly ready: () => Promise<ReadyReport>;
  readonly log: Logger;
  /** Whether the store has room for more jobs; always unless stated. */
  readonly memory?: () => MemoryState;
  /** A new id, unique everywhere, for a job of this bucket. */
  readonly newJobId: (type: string, tenant: string) => string;
  /** The policies; none unless stated. */
  readonly policed?: PolicedParts;
  /** What administrators may change while everything runs; without it there are no such routes. */
  readonly admin?: Administration;
  /** Where one hears what happens to jobs; without it nobody can wait for a job or follow it. */
  readonly feed?: JobFeed;
  /** Whose word on a client's address is believed: nobody's unless stated. */
  readonly trustProxy?: TrustProxy;
  /** Serves the OpenAPI document of this version at `/docs`; without it there is none. */
  readonly document?: { readonly version: string };
  /** Counts, and is served at `/metrics`: to admin keys, or openly; without it there is no such route. */
  readonly metrics?: { readonly of: ApiMetrics; readonly open: boolean };
  /** A page at `/` for browsers, which sign in; without it there are no sessions. */
  readonly page?: BrowserPage;
  /** Types for workers elsewhere; without it there are no such routes. */
  readonly remote?: RemoteTypes;
  readonly limits?: Partial<HttpLimits>;
  /** 0 to 1, exclusive of 1; spreads the retries of callers after an outage. */
  readonly random?: () => number;
}

/**
 * The HTTP surface: routes under `/v1`, `/healthz`, `/readyz` and `/`. It does not listen; whoever calls this does,
 * and closes it. It opens nothing of its own.
 *
 * @throws Error when the schema of a type cannot be used.
 */
export function buildApp(parts: AppParts): FastifyInstance {
  const limits = { ...DEFAULT_HTTP_LIMITS, ...parts.limits };
  const random = parts.random ?? Math.random;
  const logger: FastifyBaseLogger = parts.log;
  const app = fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: requestId,
    trustProxy: trusted(parts.trustProxy),
    // Bodies have a limit of their own where they are taken.
    bodyLimit: 1024,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    // While closing, what is under way is finished like everything else.
    return503OnClosing: false,
    http: {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      connectionsCheckingInterval: limits.timeoutCheckMs,
      // Node's own refusal is not a problem document; `firstLook` refuses instead.
      requireHostHeader: false,
    },
    // Ids are as long as they are; ones that cannot be ours are not found.
    routerOptions: { maxParamLength: limits.headerBytes, querystringParser: unreadQuery },
    clientErrorHandler: answerClientError,
    frameworkErrors: (error, request, reply) => {
      replyError(reply.header('x-request-id', request.id), error, random);
    },
  });
  // Node would drop the headers beyond its maximum without a word; `firstLook` counts them.
  app.server.maxHeadersCount = 0;
  app.server.on('checkExpectation', answerExpectation);

  const methods = new RouteMethods();
  app.addHook('onRoute', methods.add);
  app.decorateRequest('principal', null);
  app.decorateRequest('worker', null);
  app.addHook('onRequest', firstLook(methods, limits.headerCount));
  app.setValidatorCompiler(requestValidators);
  app.setSerializerCompiler(() => (body) => JSON.stringify(body));
  acceptJsonBodies(app);
  answerErrors(app, random);
  logRequests(app, parts.log);
  const closing = new Closing();
  closeUnused(app.server, closing);
  app.addHook('preClose', async () => closing.begin());
  app.addHook('onSend', (_request, reply, _payload, done) => {
    // A connection that stays open for the next request would keep the server from closing.
    if (closing.begun) reply.header('connection', 'close');
    done();
  });
  if (parts.document !== undefined) describeApi(app, parts.document.version);
  const following = followingOver(parts.feed, limits, closing);
  addRoutes(app, parts, {
    ...{ random, following, claims: new Seats(limits.claims) },
    ...{ batchBytes: limits.batchBytes, jobBytes: jobBytes(parts.door) },
  });
  return app;
}

const KEYED_ROUTES = [
  ...[postJob, postBatch, getJob, listJobs, cancelJob, retryJobs, listTypes, getLimits, getQuote],
  ...[postCheck, listPolicies, getStats],
];

function addRoutes(
  app: FastifyInstance,
  {
    shaping,
    door,
    keyring,
    ready,
    memory = () => ({ kind: 'fine' }),
    newJobId,
    policed = NO_POLICIES,
    admin,
    directory,
    metrics,
    page,
    remote,
  }: AppParts,
  more: Pick<RouteParts, 'random' | 'following' | 'batchBytes' | 'jobBytes'> & { readonly claims: Seats },
): void {
  const keeper = { door, newJobId, checks: compileBodyChecks(door) };
  const failures = new FailedAttempts();
  const routeParts: RouteParts = {
    shaping,
    keeper,
    policed,
    keyring,
    failures,
    ready,
    memory,
    tally: bothTallies(metrics?.of.tally ?? NO_TALLY, page?.tally ?? NO_TALLY),
    onCancelled: (bucket, jobs) => metrics?.of.runs.cancelled(bucket, jobs),
    ...more,
  };
  app.register(async (scope) => {
    const open = scope.withTypeProvider<TypeBoxTypeProvider>();
    health(open, routeParts);
    if (page === undefined) welcome(open);
    if (metrics?.open === true) openMetrics(open, metrics.of);
  });
  app.register(async (scope) => {
    forwardAuth(scope.withTypeProvider<TypeBoxTypeProvider>(), routeParts);
  });
  const keys = { keyring, directory, failures };
  const sessions = page && new SessionCheck(page.sessions, keys);
  if (page !== undefined && sessions !== undefined) {
    app.register(async (scope) =>
      page.routes(scope.withTypeProvider<TypeBoxTypeProvider>(), { ...routeParts, keys, sessions }),
    );
  }
  app.register(async (scope) => {
    const keyed = scope.withTypeProvider<TypeBoxTypeProvider>();
    keyed.addHook('onRequest', demandKey(keys, sessions));
    for (const add of KEYED_ROUTES) add(keyed, routeParts);
    if (more.following.feed !== undefined) followJob(keyed, routeParts, more.following.feed);
    if (admin !== undefined) adminRoutes(keyed, admin);
    if (metrics?.open === false) keyedMetrics(keyed, metrics.of);
  });
  if (remote === undefined) return;
  app.register(async (scope) => {
    const ofWorkers = scope.withTypeProvider<TypeBoxTypeProvider>();
    ofWorkers.addHook('onRequest', demandWorkerKey({ keyring, directory, failures }));
    workerRoutes(ofWorkers, { remote, claims: more.claims, closing: more.following.closing, random: more.random });
  });
}

function jobBytes(door: Door): number {
  const payloads = door.typeNames().map((name) => door.type(name)?.maxPayloadBytes ?? 0);
  return Math.max(0, ...payloads) + ENVELOPE_BYTES;
}

/** Fastify takes a number of proxies for none, since it cannot know that they are there; who states it here does. */
function trusted(trustProxy: TrustProxy = false): false | string[] | ((address: string, hop: number) => boolean) {
  if (typeof trustProxy === 'number') return (_address, hop) => hop < trustProxy;
  return trustProxy === false ? false : [...trustProxy];
}

/** The caller's own id where it is harmless, so that its logs and ours meet; else a new one. */
function requestId(request: IncomingMessage): string {
  const stated = request.headers['x-request-id'];
  return typeof stated === 'string' && /^[\x21-\x7e]{1,128}$/.test(stated) ? stated : randomUUID();
}
