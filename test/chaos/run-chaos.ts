import { writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { report } from '../referee/report.js';
import type { Blow } from './blow.js';
import { type BookCheck, checkBooks } from './book-check.js';
import { type ChaosOptions, ChaosSystem } from './chaos-system.js';
import { drawn, type Fault } from './faults.js';
import { Ledger } from './ledger.js';
import { Load } from './load.js';
import { seeded } from './random.js';
import { sampleLists } from './sampler.js';
import { secondRuns } from './second-runs.js';
import { type ChaosSummary, summaryOf } from './summary.js';

export interface ChaosOrder extends ChaosOptions {
  readonly seed: number;
  readonly seconds: number;
  /** Where the referee's trace goes when the run did not pass. */
  readonly traceFile?: string | undefined;
}

const RECOVERY_LIMIT_MS = 90_000;
const FOLLOW_LIMIT_MS = 180_000;
/**
 * What a blow did to locks, and to a connection that is dead without a word, shows only later: so long afterwards lateness
 * is excused.
 */
const AFTERMATH_MS = 12_000;

/** One run: everything whole, load on it, one blow after the other, and then the books. `say` is told of each step. */
export async function runChaos(order: ChaosOrder, say: (line: string) => void): Promise<ChaosSummary> {
  const system = await ChaosSystem.start(order);
  try {
    return await chaosOf(system, order, say);
  } finally {
    await system.end();
  }
}

async function chaosOf(system: ChaosSystem, order: ChaosOrder, say: (line: string) => void): Promise<ChaosSummary> {
  const { referee } = system.refereed;
  const ledger = new Ledger();
  const witnesses = system.witnesses();
  const now = () => referee.now();
  const load = new Load({ witnesses, ledger, random: seeded(order.seed + 1), now });
  const sampling = sampleLists(system);
  load.start();
  await recovered(system, now());
  const random = seeded(order.seed);
  const faults = drawn(random);
  const blows: Blow[] = [];
  const until = now() + order.seconds * 1000;
  while (now() < until) {
    await pause(random.whole(500, 3000));
    const blow = await strike(system, faults.next().value, random, ledger);
    blows.push(blow);
    say(
      `${String(Math.round((until - now()) / 1000)).padStart(5)} s left  ${blow.fault}: recovered in ${Math.round(blow.recoveryMs)} ms; ${ledger.accepted.size} jobs accepted`,
    );
  }
  await load.stop();
  say('following every job to its end');
  for (const witness of witnesses) await witness.followToEnds(FOLLOW_LIMIT_MS);
  const books = await booksAtRest(system, ledger);
  await sampling.stop();
  const verdict = await referee.verdict();
  say(report(verdict));
  const trace = await referee.trace();
  const { samples } = sampling;
  const summary = summaryOf({
    order,
    blows,
    ledger,
    books,
    samples,
    verdict,
    again: secondRuns(trace, blows),
    cuts: system.cuts,
  });
  if (!summary.passed && order.traceFile !== undefined) {
    await writeFile(order.traceFile, trace.map((event) => `${JSON.stringify(event)}\n`).join(''));
  }
  return summary;
}

/**
 * The books once nothing waits and nothing runs, or as they are after {@link FOLLOW_LIMIT_MS}: a job whose request had no
 * answer may have been taken, and nobody follows it.
 */
async function booksAtRest(system: ChaosSystem, { accepted }: Ledger): Promise<BookCheck> {
  const client = system.redis.client();
  try {
    for (const deadline = Date.now() + FOLLOW_LIMIT_MS; ; await pause(200)) {
      const books = await checkBooks(client, accepted);
      if ((books.waiting.length === 0 && books.running.length === 0) || Date.now() > deadline) return books;
    }
  } finally {
    client.disconnect();
  }
}

async function strike(
  system: ChaosSystem,
  fault: Fault,
  random: ReturnType<typeof seeded>,
  ledger: Ledger,
): Promise<Blow> {
  const { referee } = system.refereed;
  const from = referee.now();
  const striking = fault.strike(system, random);
  if (fault.othersGoOn !== true) await striking;
  const since = referee.now();
  const isWhole = await recovered(system, since);
  const recoveryMs = referee.now() - since;
  if (!isWhole) ledger.faults.push(`${fault.name}: no recovery within ${RECOVERY_LIMIT_MS / 1000} s`);
  await striking;
  const to = referee.now();
  referee.recordOutage({ from, to: to + AFTERMATH_MS, note: fault.name });
  return { fault: fault.name, from, to, recoveryMs };
}

/** Resolves when every API is ready and a job has started since `instant`; false when that takes too long. */
export async function recovered(
  { refereed: { referee }, urls }: Pick<ChaosSystem, 'refereed' | 'urls'>,
  instant: number,
): Promise<boolean> {
  const started = referee
    .until((trace) => trace.some((event) => event.kind === 'start' && event.at > instant), RECOVERY_LIMIT_MS)
    .then(
      () => true,
      () => false,
    );
  const ready = urls.map(async (url) => {
    for (const deadline = referee.now() + RECOVERY_LIMIT_MS; referee.now() < deadline; await pause(20)) {
      const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5000) }).catch(() => undefined);
      await answer?.arrayBuffer();
      if (answer?.status === 200) return true;
    }
    return false;
  });
  return (await Promise.all([started, ...ready])).every(Boolean);
}
