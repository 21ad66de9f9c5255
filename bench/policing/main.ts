import { startRedis } from '../../test/support/redis-server.js';
import { middle, ratio, shown, table } from '../markdown.js';
import { DecisionRows, type Group, type Kind } from './decision-rows.js';
import type { Decisions, DecisionsOptions } from './decisions.js';
import type { LeaseMember } from './lease-member.js';
import { benchLeaseShare } from './lease-share.js';
import type { Memory } from './memory.js';
import { SERVERS } from './servers.js';
import { take } from './take.js';
import { benchServer, type Load, wrkProgram } from './wrk.js';

/**
 * Runs every measurement of policing side by side on one Redis and prints the tables of `bench/README.md`. `[RUNS]`, 3, and
 * `[SCALE]`, 1: with 0.1 all of it takes a tenth of the time, for a trial.
 */
const RUNS = Number(process.argv[2] ?? 3);
const SCALE = Number(process.argv[3] ?? 1);
const WRK_SECONDS = Math.max(1, Math.round(6 * SCALE));
const LEASE_SECONDS = Math.max(5, Math.round(30 * SCALE));

/** Contenders whose keys are weighed, and calls of each key. */
const WEIGHED = [
  ['token-bucket', 10_000, 1],
  ['sliding-window-counter', 10_000, 1],
  ['sliding-window-log', 1000, 60],
  ['sliding-window-log', 100, 128],
  ['sliding-window-log', 100, 129],
  ['sliding-window-log', 20, 1000],
  ['leased', 10_000, 1],
  ['rate-limiter-flexible, Redis', 10_000, 1],
  ['rate-limit-redis', 10_000, 1],
  ['@fastify/rate-limit, Redis', 10_000, 1],
  ['MULTI/EXEC', 10_000, 1],
] as const;

/** Round trips against one script: by a single caller, by many on many keys, and by many on one. */
const ROUND_TRIPS = [
  { callers: 1, keys: 1000, decisions: 4000 },
  { callers: 64, keys: 1000, decisions: 10_000 },
  { callers: 64, keys: 1, decisions: 1000 },
] as const;

/** Servers that stand in for each other. */
const END_TO_END = [
  ['fastify, token-bucket', 'fastify, @fastify/rate-limit, Redis'],
  ['fastify, local', 'fastify, @fastify/rate-limit, memory'],
  ['express, token-bucket', 'express, express-rate-limit, Redis'],
  ['express, local', 'express, express-rate-limit, memory'],
] as const;

const server = await startRedis();
const { socketPath } = server;

function roundTrip(contender: string, load: (typeof ROUND_TRIPS)[number]): Promise<Decisions> {
  const { callers, keys, decisions } = load;
  const options: DecisionsOptions = {
    ...{ contender, quota: 'wide', keys, callers, timedCallers: callers },
    decisions: decisions * SCALE,
  };
  return take('decisions', socketPath, options);
}

try {
  const wrk = await wrkProgram();
  const loads = new Map<string, Load[]>(Object.keys(SERVERS).map((name) => [name, []]));
  const rows = new DecisionRows(socketPath, SCALE);
  const trips = ROUND_TRIPS.map((load) => ({ load, script: [] as Decisions[], transaction: [] as Decisions[] }));
  for (let i = 0; i < RUNS; i += 1) {
    for (const [name, results] of loads) {
      process.stderr.write(`wrk, ${name}\n`);
      results.push(await benchServer(wrk, { server: name, socketPath, seconds: WRK_SECONDS }));
    }
    for (const { load, script, transaction } of trips) {
      script.push(await roundTrip('token-bucket', load));
      transaction.push(await roundTrip('MULTI/EXEC', load));
    }
    await rows.run();
    await rows.runCold();
  }
  const weights: [name: string, Memory][] = [];
  for (const [contender, keys, callsPerKey] of WEIGHED) {
    const name = callsPerKey === 1 ? contender : `${contender}, ${callsPerKey.toLocaleString('en')} calls`;
    const callers = contender === 'MULTI/EXEC' ? 1 : 100;
    weights.push([name, await take<Memory>('memory', socketPath, { contender, keys, callsPerKey, callers })]);
  }
  const share = await benchLeaseShare(LEASE_SECONDS, (options) =>
    take<LeaseMember>('lease-member', socketPath, options),
  );

  const over = (ours: string, group: Group, kinds: readonly Kind[]): readonly [string, string] => {
    const shownOver = (load: 'many' | 'one'): string => {
      const [value, fastest] = rows.overFastest(ours, group, load, kinds);
      return `${value.toFixed(2)} (${fastest})`;
    };
    return [shownOver('many'), shownOver('one')];
  };
  const inMemory = ['local', 'local, its policer alone', 'leased', 'leased, its policer alone'];
  const ratios = table(
    ['decisions/s', '1,000 keys', 'one key'],
    ['token-bucket ÷ the fastest over Redis', ...over('token-bucket', 'redis', ['limiter', 'store'])],
    ...inMemory.map((ours) => [`${ours} ÷ the limiter in memory`, ...over(ours, 'memory', ['limiter'])]),
    ...inMemory.map((ours) => [`${ours} ÷ the fastest store in memory`, ...over(ours, 'memory', ['store'])]),
  );
  const loadsOf = (name: string): readonly Load[] => loads.get(name) ?? [];
  const baseOf = (name: string): readonly Load[] => loadsOf(name.split(',')[0] ?? '');
  const requestRatios = table(
    ['requests/s, end to end', 'ratio'],
    ...END_TO_END.map(([ours, theirs]) => [
      `${ours} ÷ ${theirs}`,
      ratio(loadsOf(ours), loadsOf(theirs), ({ requestsPerSecond }) => requestsPerSecond).toFixed(2),
    ]),
  );
  const endToEnd = table(
    ['GET /, 64 connections', 'requests/s', '÷ no limiter', 'p50, p99 (ms)'],
    ...[...loads].map(([name, results]) => [
      name.includes(',') ? name : `${name}, no limiter`,
      shown(middle(results, ({ requestsPerSecond }) => requestsPerSecond)),
      ratio(results, baseOf(name), ({ requestsPerSecond }) => requestsPerSecond).toFixed(2),
      `${shown(middle(results, ({ p50Ms }) => p50Ms))}, ${shown(middle(results, ({ p99Ms }) => p99Ms))}`,
    ]),
  );
  const roundTrips = table(
    ['callers, keys', 'MULTI/EXEC: decisions/s', 'p50, p99 (µs)', 'one script: decisions/s', 'p50, p99 (µs)', 'ratio'],
    ...trips.map(({ load, script, transaction }) => [
      `${load.callers}, ${load.keys.toLocaleString('en')}`,
      ...[transaction, script].flatMap((results) => [
        shown(middle(results, ({ perSecond }) => perSecond)),
        `${shown(middle(results, ({ p50Us }) => p50Us))}, ${shown(middle(results, ({ p99Us }) => p99Us))}`,
      ]),
      ratio(script, transaction, ({ perSecond }) => perSecond).toFixed(1),
    ]),
  );
  const memory = table(
    ['bytes per key', 'MEMORY USAGE', 'growth of used_memory'],
    ...weights.map(([name, { usageBytes, grownBytes }]) => [name, shown(usageBytes), shown(grownBytes)]),
  );
  const leased = table(
    [`four processes, one \`leased\` limit of 200/s, burst 200, ${LEASE_SECONDS} s`, 'value'],
    ['calls offered, of which one process has 90 %', share.offered.toLocaleString('en')],
    ['passed', share.passed.toLocaleString('en')],
    ['a single bucket: burst + rate · t', share.law.toFixed(0)],
    ['units by which the worst of all windows exceeds that', share.worstExcess.toFixed(1)],
    ['passed in the busy process ÷ rate · t', share.busyShare.toFixed(3)],
  );
  const tables = [
    ratios,
    requestRatios,
    rows.table('redis'),
    rows.table('memory'),
    rows.coldTable(),
    roundTrips,
    endToEnd,
    memory,
    leased,
  ];
  process.stdout.write(`${tables.join('\n\n')}\n`);
} finally {
  await server.stop();
}
