import { startTag } from '../../../src/model/fair-queue.js';
import type { ScheduledBucket } from '../../../src/model/scheduler/scheduled-bucket.js';
import type { Scheduler } from '../../../src/model/scheduler.js';
import type { Service } from '../../../src/model/service.js';
import type { ScriptShard } from '../script-shard.js';
import { bucketOf, serviceOf, typeOf } from '../stored-state.js';

/** One bucket as either side has it. Sums of costs are rounded: Redis adds them up in another order. */
export interface BucketShot {
  readonly tatUs: number;
  readonly jobTatUs: number;
  readonly finish: number;
  readonly heldUntilUs: number;
  /** Of what pays when it starts. */
  readonly costByPriority: readonly number[];
  /** How many of these jobs do not cost 1. */
  readonly odd: number;
  /** Of what was paid for at the door. */
  readonly paid: number;
  readonly paidCost: number;
  readonly bytes: number;
  readonly waiting: readonly string[];
  readonly delayed: readonly (readonly [id: string, dueAtUs: number])[];
  readonly active: readonly string[];
}

/** All of a shard that decides who runs next, and when. */
export interface Shot {
  readonly clock: { readonly nowUs: number; readonly offsetUs: number };
  readonly virtualTime: number;
  readonly maxFinish: number;
  readonly running: number;
  readonly typeTatUs: number;
  readonly typeHeldUntilUs: number;
  readonly busySinceUs: number;
  /** Of all that is ready, together. */
  readonly weights: number;
  readonly service: Service;
  readonly due: Readonly<Record<string, number>>;
  readonly ready: Readonly<Record<string, number>>;
  readonly runs: Readonly<Record<string, string>>;
  readonly expires: Readonly<Record<string, number>>;
  readonly buckets: Readonly<Record<string, BucketShot>>;
}

const PRIORITIES = [...Array(10).keys()];
const EPOCH_MS = Date.UTC(2025, 0, 1);

/** What the model holds. */
export function shotOfModel(model: Scheduler, tenants: readonly string[]): Shot {
  const { clock, schedule, type, runs, jobs } = model.state;
  const byTenant = (scores: ReadonlyMap<ScheduledBucket, number>) =>
    Object.fromEntries([...scores].map(([bucket, score]) => [bucket.tenant, score]));
  const expiring = [...jobs.values()].flatMap((job) =>
    job.startByUs === undefined ? [] : [[`${job.tenant} ${job.id}`, job.startByUs] as const],
  );
  return {
    clock,
    virtualTime: schedule.fair.virtualTime,
    maxFinish: schedule.fair.maxFinish,
    running: runs.size,
    typeTatUs: type.state.tatUs,
    typeHeldUntilUs: type.heldUntilUs,
    busySinceUs: schedule.busySinceUs ?? 0,
    weights: rounded(schedule.weights),
    service: roundedService(type.service),
    due: byTenant(schedule.due),
    ready: byTenant(schedule.ready),
    runs: Object.fromEntries([...runs].map(([token, job]) => [token, `${job.tenant} ${job.id}`])),
    expires: Object.fromEntries(expiring),
    buckets: Object.fromEntries(tenants.map((tenant) => [tenant, bucketOfModel(model, tenant)])),
  };
}

function bucketOfModel(model: Scheduler, tenant: string): BucketShot {
  const bucket = model.state.bucket(tenant);
  const { waiting, delayed, bytes } = bucket.backlog;
  const [paid, unpaid] = [waiting.filter(({ charged }) => charged), waiting.filter(({ charged }) => !charged)];
  return {
    ...bucket.state,
    finish: bucket.finish,
    heldUntilUs: bucket.heldUntilUs,
    costByPriority: PRIORITIES.map((p) => rounded(costOf(unpaid.filter(({ priority }) => priority === p)))),
    odd: unpaid.filter(({ cost }) => cost !== 1).length,
    paid: paid.length,
    paidCost: rounded(costOf(paid)),
    bytes,
    waiting: waiting.map(({ id }) => id),
    delayed: delayed.map(({ id, dueAtUs }) => [id, dueAtUs]),
    active: [...bucket.active].map(({ id }) => id).sort(),
  };
}

/** What Redis holds, in one round trip. `undefined` stands for a bucket that Redis has no hash of. */
export async function shotOfRedis(
  shard: ScriptShard,
  tenants: readonly string[],
): Promise<
  Omit<Shot, 'buckets'> & { readonly buckets: Readonly<Record<string, BucketShot>>; readonly absent: string[] }
> {
  const pipeline = shard.redis.pipeline();
  pipeline.hgetBuffer(shard.key('type'), 's').hgetall(shard.key('running'));
  for (const set of ['due', 'ready', 'expire']) pipeline.zrange(shard.key(set), 0, -1, 'WITHSCORES');
  for (const tenant of tenants) {
    pipeline.getBuffer(shard.bucketKey(tenant)).zrange(shard.queueKey(tenant, 'prioritized'), 0, -1);
    pipeline
      .zrange(shard.queueKey(tenant, 'delayed'), 0, -1, 'WITHSCORES')
      .lrange(shard.queueKey(tenant, 'active'), 0, -1);
  }
  const replies = ((await pipeline.exec()) ?? []).map(([error, reply]) => {
    if (error) throw error;
    return reply;
  });
  const [type, runs, due, ready, expires, ...rest] = replies;
  const field = typeOf(type);
  const buckets = tenants.map((tenant, i) => [tenant, rest.slice(i * 4, i * 4 + 4)] as const);
  return {
    clock: { nowUs: field('last'), offsetUs: field('offset') },
    virtualTime: field('v'),
    maxFinish: field('maxfin'),
    running: field('running'),
    typeTatUs: field('tat'),
    typeHeldUntilUs: field('held'),
    busySinceUs: field('busy'),
    weights: rounded(field('weights')),
    service: roundedService(serviceOf(type)),
    due: scoresOf(due),
    ready: scoresOf(ready),
    // Behind tenant and job stand the marks of the start, packed.
    runs: Object.fromEntries(Object.entries(textsOf(runs)).map(([token, run]) => [token, run.split(' ', 2).join(' ')])),
    expires: scoresOf(expires),
    buckets: Object.fromEntries(buckets.map(([tenant, parts]) => [tenant, bucketOfRedis(parts)])),
    absent: buckets.filter(([, [stored]]) => stored === null).map(([tenant]) => tenant),
  };
}

function bucketOfRedis([hash, waiting, delayed, active]: readonly unknown[]): BucketShot {
  const field = bucketOf(hash);
  return {
    tatUs: field('tat'),
    jobTatUs: field('jtat'),
    finish: field('finish'),
    heldUntilUs: field('held'),
    costByPriority: PRIORITIES.map((p) => rounded(field(`w${p + 1}`))),
    odd: field('odd'),
    paid: field('paid'),
    paidCost: rounded(field('paid_cost')),
    bytes: field('bytes'),
    waiting: listOf(waiting),
    delayed: Object.entries(scoresOf(delayed)).map(([id, score]) => [
      id,
      (Math.floor(score / 0x1000) - EPOCH_MS) * 1000,
    ]),
    active: listOf(active).sort(),
  };
}

/**
 * The same with what a forgotten bucket may have lost: a level of 0 and a hold that lie in the past, and a finish that
 * virtual time has passed.
 */
export function withoutTheForgettable(shot: Shot, tenants: ReadonlySet<string>): Shot {
  const { nowUs } = shot.clock;
  const buckets = Object.entries(shot.buckets).map(([tenant, bucket]) => {
    if (!tenants.has(tenant)) return [tenant, bucket];
    const late = (us: number): number => (bucket.waiting.length > 0 ? us : Math.max(us, nowUs));
    const finish = startTag(shot, bucket.finish);
    const heldUntilUs = bucket.heldUntilUs <= nowUs ? 0 : bucket.heldUntilUs;
    return [tenant, { ...bucket, tatUs: late(bucket.tatUs), jobTatUs: late(bucket.jobTatUs), finish, heldUntilUs }];
  });
  return { ...shot, buckets: Object.fromEntries(buckets) };
}

function costOf(jobs: readonly { readonly cost: number }[]): number {
  return jobs.reduce((sum, { cost }) => sum + cost, 0);
}

/** Sums of weights, too, are added up in another order. */
function roundedService(service: Service): Service {
  const { windows, ran, ranUs, bands } = service;
  return {
    ...service,
    windows: windows.map(({ spanUs, work, starts, advance }) => ({
      spanUs: digits(spanUs),
      work: digits(work),
      starts: digits(starts),
      advance: digits(advance),
    })),
    ran: digits(ran),
    ranUs: digits(ranUs),
    bands,
  };
}

/** Sums of powers of two often lie halfway between two roundings: no multiple of pi does. */
function digits(value: number): number {
  return Number((value * Math.PI).toPrecision(11));
}

function rounded(sum: number): number {
  return Math.round(sum * 1e6) / 1e6 + 0;
}

function textsOf(hash: unknown): Record<string, string> {
  if (typeof hash !== 'object' || hash === null) throw new TypeError('expected a hash from Redis');
  return Object.fromEntries(Object.entries(hash).map(([name, value]) => [name, String(value)]));
}

function listOf(reply: unknown): string[] {
  if (!Array.isArray(reply)) throw new TypeError('expected a list from Redis');
  return reply.map(String);
}

function scoresOf(reply: unknown): Record<string, number> {
  const flat = listOf(reply);
  const pairs = flat.flatMap((member, i) => (i % 2 === 0 ? [[member, scoreOf(flat[i + 1])] as const] : []));
  return Object.fromEntries(pairs);
}

function scoreOf(text: string | undefined): number {
  return text === 'inf' ? Infinity : Number(text);
}
