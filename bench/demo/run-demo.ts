import { backloggedWindow } from './backlogged-window.js';
import { DemoClient } from './demo-client.js';
import { type Entitlement, fairness } from './fairness.js';
import { type BookedJob, JobBook } from './job-book.js';
import { type DemoTenant, offeredLoad, run } from './load.js';
import { readPages } from './pages.js';
import { measureServiceRate } from './service-rate.js';
import type { Summary } from './summary.js';
import type { TerminalDisplay } from './terminal-display.js';
import { type Findings, faults } from './verdict.js';
import { wordAccuracy } from './word-accuracy.js';

/** What to run against which system. */
export interface Plan {
  readonly url: string;
  /** Workers that the system has. */
  readonly slots: number;
  readonly seconds: number;
  /** Of every tenant of the demo, that of the calibration included. */
  readonly entitlements: readonly Entitlement[];
  /** API keys by tenant. */
  readonly keys: ReadonlyMap<string, string>;
}

/** With fewer starts than this, one job more or less is too much of a tenant's share to judge it to 10 %. */
const LEAST_STARTS = 20;

/** Measures the service rate, lets the tenants send, and judges what they got. */
export async function runDemo(plan: Plan, display: TerminalDisplay, signal: AbortSignal): Promise<Summary> {
  const pages = await readPages();
  const bookOf = (tenant: string): JobBook =>
    new JobBook(tenant, new DemoClient(plan.url, plan.keys.get(tenant) ?? ''));
  display.say('Measuring how fast the workers read ...');
  const serviceRate = await measureServiceRate(bookOf('calibration'), pages, plan.slots, signal);
  display.say(
    `${plan.slots} workers read ${serviceRate.toFixed(2)} pages a second. Now for ${plan.seconds} s of too much:`,
    '',
  );
  const offered = offeredLoad(serviceRate, entitlementOf(plan, 'gold').ratePerSecond);
  const tenants = Object.entries(offered).map(([tenant, offeredPerSecond]) => ({
    entitlement: entitlementOf(plan, tenant),
    offeredPerSecond,
    book: bookOf(tenant),
  }));
  const sentForSeconds = await run(
    tenants,
    pages,
    plan.slots,
    { seconds: plan.seconds, leastStarts: LEAST_STARTS },
    display,
    signal,
  );
  signal.throwIfAborted();
  const findings = found(tenants, plan, sentForSeconds);
  const off = faults(findings);
  return {
    passed: off.length === 0,
    faults: off,
    slots: plan.slots,
    serviceRatePerSecond: serviceRate,
    offeredPerSecond: tenants.reduce((sum, { offeredPerSecond }) => sum + offeredPerSecond, 0),
    tenants: tenants.map(({ entitlement, offeredPerSecond, book }) => ({
      ...entitlement,
      ratePerSecond: entitlement.ratePerSecond === Infinity ? null : entitlement.ratePerSecond,
      offeredPerSecond,
      admitted: book.jobs.length,
      refused: book.refused,
      completed: book.jobs.filter(({ state }) => state === 'completed').length,
    })),
    findings,
  };
}

function entitlementOf(plan: Plan, tenant: string): Entitlement {
  const entitlement = plan.entitlements.find((one) => one.tenant === tenant);
  if (entitlement === undefined) throw new Error(`the demo's configuration has no tenant ${tenant}`);
  return entitlement;
}

function found(tenants: readonly DemoTenant[], plan: Plan, seconds: number): Findings {
  const jobs = tenants.flatMap(({ book }) => book.jobs);
  const entitlements = tenants.map(({ entitlement }) => entitlement);
  const names = entitlements.map(({ tenant }) => tenant);
  const window = backloggedWindow(names, jobs, lastStartAtMs(jobs));
  const read = jobs.filter(({ state }) => state === 'completed');
  return {
    seconds,
    fairness: window && fairness(entitlements, jobs, window, plan.slots),
    pagesRead: read.length,
    wordAccuracy: meanAccuracy(read),
    failures: jobs.flatMap(({ error }) => (error === undefined ? [] : [error])),
  };
}

/** The last start that is known: what came after the last reading is not. */
function lastStartAtMs(jobs: readonly BookedJob[]): number {
  return Math.max(...jobs.map(({ startedAtMs }) => startedAtMs ?? Number.NEGATIVE_INFINITY));
}

function meanAccuracy(read: readonly BookedJob[]): number {
  const sum = read.reduce((total, { page, text }) => total + wordAccuracy(page.text, text ?? ''), 0);
  return sum / read.length;
}
