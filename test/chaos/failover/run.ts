import { writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { closeConnection, type RedisLink } from '../../../src/redis/connection.js';
import { permitsKey } from '../../../src/redis/keys.js';
import type { StartEvent } from '../../referee/trace.js';
import type { Verdict } from '../../referee/verdict.js';
import { type RefereedSystem, refereedSystem } from '../../system/support/refereed-system.js';
import { type BookCheck, checkBooks } from '../book-check.js';
import { type Accepted, Ledger } from '../ledger.js';
import { seeded } from '../random.js';
import { Feed } from './feed.js';
import { type Kind, type Servers, type Struck, startServers } from './servers.js';
import { BOOKS, CAPPED, CONTRACT, configOf, PACED, SLOTS, TOLERANCES, WORKERS } from './terms.js';

export interface FailoverOrder {
  readonly kind: Kind;
  /** Jobs that are accepted in all. */
  readonly jobs: number;
  readonly seed: number;
  /** Replicas that hold a job before it is answered 202. */
  readonly waitForReplicas: number;
  /** Where the referee's trace goes when the run did not pass. */
  readonly traceFile?: string | undefined;
}

/** What one run came to. */
export interface FailoverSummary extends FailoverOrder {
  readonly passed: boolean;
  /** All zero in a run that passed. */
  readonly zeros: Readonly<Record<string, number>>;
  readonly accepted: number;
  readonly starts: number;
  /** From the blow until there was a master, and from then until a job started of those that stood there. */
  readonly masterMs: number;
  readonly backMs: number;
  /** Without replicas to wait for: jobs that were accepted in the last moments before the blow and are gone; how long before, the oldest. */
  readonly lostBeforeBlow: { readonly jobs: number; readonly oldestMs: number };
  /** Jobs that ran more than once. */
  readonly ranAgain: number;
  readonly answers: Readonly<Record<string, number>>;
  readonly faults: readonly string[];
}

/** Dispatch is to be back by then. */
const BACK_MS = 10_000;
const LAST_MOMENTS_MS = 1000;
/** What a failover did to locks shows only later. */
const AFTERMATH_MS = 12_000;
const LIMIT_MS = 180_000;

/** Half of the jobs, a blow, the other half, and then the books. `say` is told of each step. */
export async function runFailover(order: FailoverOrder, say: (line: string) => void): Promise<FailoverSummary> {
  const servers = await startServers(order.kind);
  const { waitForReplicas } = order;
  const waits = waitForReplicas === 0 ? {} : { waitForReplicas };
  const config = configOf({ ...servers.redis, ...waits }, servers.shards.count);
  const system = await refereedSystem(config, CONTRACT, TOLERANCES);
  try {
    return await failoverOf(order, servers, system, say);
  } finally {
    await system.end();
    await servers.stop();
  }
}

async function failoverOf(
  order: FailoverOrder,
  servers: Servers,
  system: RefereedSystem,
  say: (line: string) => void,
): Promise<FailoverSummary> {
  const { referee, folder } = system;
  const now = () => referee.now();
  const apis = await Promise.all([1, 2].map(() => folder.start('serve')));
  const slots = Object.entries(SLOTS).map(([type, count]) => `${type}=${count}`);
  const work = () => folder.start('work', ['--concurrency', slots.join()]);
  const [worker] = await Promise.all(Array.from({ length: WORKERS }, work));
  if (!worker) throw new Error('there is no worker');
  const witnesses = apis.map(({ url }) => system.witness(url));
  const ledger = new Ledger();
  const feed = new Feed({ witnesses, ledger, random: seeded(order.seed), now, jobs: order.jobs });
  const feeding = feed.run();
  feeding.catch(() => undefined); // Awaited below.
  const startsIn = async () => (await referee.trace()).filter((event) => event.kind === 'start');
  await until(() => ledger.accepted.size >= order.jobs / 2, 'half of the jobs were accepted');
  say(`${ledger.accepted.size} jobs accepted, ${(await startsIn()).length} started; now the blow`);

  const struck = await servers.strike(now, worker);
  say(`there is a master ${Math.round(struck.masterAt - struck.from)} ms later`);
  const isBack = async () => firstStart(await startsIn(), struck) !== undefined;
  await until(isBack, 'a job started again', 1000);
  await struck.mend();
  const begins = (await startsIn()).length;
  await until(async () => (await startsIn()).length > begins + 100, 'jobs start again', 1000);
  referee.recordOutage({ from: struck.from, to: now() + AFTERMATH_MS, note: order.kind });
  await feeding;
  say(`${ledger.accepted.size} jobs accepted; following each to its end`);
  await Promise.all(witnesses.map((witness) => witness.followToEnds(LIMIT_MS)));
  const link = await servers.open();
  const [books, permits] = await booksAtRest(link, ledger, servers);
  closeConnection(link);
  const starts = await startsIn();
  const summary = summaryOf({ order, struck, ledger, books, permits, starts, verdict: await referee.verdict() });
  if (!summary.passed && order.traceFile !== undefined) {
    const trace = await referee.trace();
    await writeFile(order.traceFile, trace.map((event) => `${JSON.stringify(event)}\n`).join(''));
  }
  return summary;
}

async function until(condition: () => boolean | Promise<boolean>, what: string, everyMs = 100): Promise<void> {
  for (const deadline = performance.now() + LIMIT_MS; !(await condition()); await pause(everyMs)) {
    if (performance.now() > deadline) throw new Error(`it took too long until ${what}`);
  }
}

/** The books once nothing waits, nothing runs and no permit is held, or as they are when that takes too long. */
async function booksAtRest(link: RedisLink, { accepted }: Ledger, { shards }: Servers): Promise<[BookCheck, string[]]> {
  const [home] = shards.tags(CAPPED);
  for (const deadline = performance.now() + LIMIT_MS; ; await pause(500)) {
    const books = await checkBooks(link, accepted, shards, BOOKS);
    const permits = home === undefined ? [] : await link.hkeys(permitsKey(home));
    const isAtRest = books.waiting.length + books.running.length + permits.length === 0;
    if (isAtRest || performance.now() > deadline) return [books, permits];
  }
}

/** When a job started, after there was a master again, that stood where there was none. */
function firstStart(starts: readonly StartEvent[], { masterAt, tenants }: Struck): number | undefined {
  const instants = starts
    .filter(({ at, type, tenant }) => type === PACED && at > masterAt && tenants.includes(tenant))
    .map(({ at }) => at);
  return instants.length === 0 ? undefined : Math.min(...instants);
}

function summaryOf(parts: {
  readonly order: FailoverOrder;
  readonly struck: Struck;
  readonly ledger: Ledger;
  readonly books: BookCheck;
  readonly permits: readonly string[];
  readonly starts: readonly StartEvent[];
  readonly verdict: Verdict;
}): FailoverSummary {
  const { order, struck, ledger, books, permits, starts, verdict } = parts;
  const { from, masterAt } = struck;
  const isLate = ({ acceptedAt }: Accepted) => acceptedAt > from - LAST_MOMENTS_MS && acceptedAt < masterAt;
  const mayBeLost = order.waitForReplicas === 0 ? books.lost.filter(isLate) : [];
  const gone = (text: string) => mayBeLost.some(({ id }) => text.includes(id));
  const violations = verdict.violations.filter(({ guarantee, sentence }) => guarantee !== 'G5' || !gone(sentence));
  // The job that went is made anew under its key.
  const doubled = ledger.doubled.filter(({ first }) => !gone(first));
  const backMs = (firstStart(starts, struck) ?? Infinity) - masterAt;
  const zeros = {
    lost: books.lost.length - mayBeLost.length,
    twoEnds: books.twoEnds.length,
    runningAtTheEnd: books.running.length,
    waitingAtTheEnd: books.waiting.length,
    permitsAtTheEnd: permits.length,
    envelope: books.envelope.length,
    violations: violations.length,
    doubledKeys: doubled.length,
    faultsAtTheDoor: ledger.faults.length,
    dispatchBackTooLate: backMs <= BACK_MS ? 0 : 1,
    jobsTooFew: ledger.accepted.size >= order.jobs ? 0 : 1,
  };
  const runs = new Map<string, number>();
  for (const { job } of starts) runs.set(job, (runs.get(job) ?? 0) + 1);
  return {
    ...order,
    passed: Object.values(zeros).every((count) => count === 0),
    zeros,
    accepted: ledger.accepted.size,
    starts: starts.length,
    masterMs: Math.round(masterAt - from),
    backMs: Math.round(backMs),
    lostBeforeBlow: {
      jobs: mayBeLost.length,
      oldestMs: Math.round(Math.max(0, ...mayBeLost.map(({ acceptedAt }) => from - acceptedAt))),
    },
    ranAgain: [...runs.values()].filter((count) => count > 1).length,
    answers: Object.fromEntries(ledger.statuses),
    faults: [
      ...ledger.faults.slice(0, 10),
      ...violations.slice(0, 20).map(({ guarantee, bucket, sentence }) => `${guarantee} ${bucket}: ${sentence}`),
      ...books.envelope.slice(0, 10),
      ...[
        ...books.lost.slice(0, 5).map(({ id }) => `lost: ${id}`),
        ...books.twoEnds.slice(0, 5).map((id) => `two ends: ${id}`),
      ],
      ...[...books.running, ...books.waiting, ...permits].slice(0, 10).map((what) => `left: ${what}`),
    ],
  };
}
