import { hash } from 'node:crypto';
import { DELIVERY_TYPE } from '../config/delivery-type.js';
import type { Admission, BulkRetrial, Cancellation, JobPage, JobView, NewJob, Retrial } from '../model/verdict.js';
import { hookMark } from '../model/webhook.js';
import { orUnavailable, type RedisLink } from '../redis/connection.js';
import { encodeTenant, idempotencyKey, outputKey, type ShardTag } from '../redis/keys.js';
import { allAnswer, answeringText, pingServers } from '../redis/masters.js';
import { RedisUnavailable } from '../redis/outage.js';
import { type Argument, type RunScript, runScript, type Script } from '../redis/script.js';
import { admissionOf } from './admission.js';
import { AdmitCalls } from './admit-calls.js';
import { admitInSteps } from './admit-in-steps.js';
import { type Cursor, formatCursor, parseCursor } from './cursor.js';
import { jobHome } from './job-home.js';
import { formatOptions } from './job-options.js';
import { jobViewOf } from './job-view.js';
import { profileBytes } from './profile-bytes.js';
import { quoteOf } from './quote-of.js';
import { Retrying } from './retrying.js';
import { scripts } from './scripts.js';
import { GONE_TYPE, type Settings, typeSettings } from './settings.js';
import type {
  BucketPage,
  BucketView,
  DoorAnswer,
  JobFilter,
  OutputChunk,
  Quote,
  QuotedJobs,
  Shaping,
  TypeView,
} from './shaping.js';
import { allShards } from './shard-stats.js';
import { ShardWatch } from './shard-watch.js';
import { tenantsAt } from './tenants-at.js';

/** Jobs that a read looks at, at most, where costs differ, and entries that a page looks at. */
const SCAN_LIMIT = 1000;

/** How long a server may take to show that it is there. */
const PING_MS = 2000;

/** Before the first job of any list. */
const START: Cursor = { score: '', id: '' };

/** {@link Shaping} on Redis. The connection is the caller's to close. */
export class RedisShaping implements Shaping {
  readonly #redis: RedisLink;
  readonly #admitting: AdmitCalls;
  readonly #settings: Settings;
  readonly #retrying: Retrying;
  readonly #watch: ShardWatch;

  /** @param admitting Runs what admits jobs; the same connection unless given. */
  constructor(redis: RedisLink, settings: Settings, admitting?: RunScript) {
    this.#redis = redis;
    this.#settings = settings;
    this.#retrying = new Retrying(redis, settings);
    this.#watch = new ShardWatch(redis, settings);
    const run: RunScript = admitting ?? ((call) => runScript(redis, call));
    this.#admitting = new AdmitCalls(run, settings, this.#watch);
  }

  async admit(type: string, tenant: string, jobs: readonly NewJob[]): Promise<DoorAnswer> {
    const { attempts, slackUs } = typeSettings(this.#settings, type);
    const profile = profileBytes(this.#settings.profile(type, tenant), slackUs);
    const own = type === DELIVERY_TYPE ? '' : hookMark(this.#settings.webhookEvents?.(tenant) ?? []);
    const [tag, encoded] = [this.#tagOf(type, tenant), encodeTenant(tenant)];
    const { verdicts, depth, freePlaces } = await admitInSteps(jobs, (step, closed) => {
      const values: Argument[] = [];
      let bytes = 0;
      for (const job of step) {
        values.push(...jobArguments(type, job, attempts, own));
        bytes += job.data.length;
      }
      return this.#admitting.admit(type, tag, { tenant: encoded, profile, closed, jobs: step.length, values, bytes });
    });
    const admissions: Admission[] = [];
    for (const { verdict, unixMs } of verdicts) {
      const replayed = verdict.kind === 'replayed' ? await this.job(tenant, verdict.id) : undefined;
      admissions.push(admissionOf(verdict, unixMs, replayed));
    }
    return { admissions, depth, freePlaces };
  }

  async knows(type: string, tenant: string, idempotencyKeys: readonly string[]): Promise<readonly boolean[]> {
    const bucket = [this.#tagOf(type, tenant), encodeTenant(tenant)] as const;
    const keys = idempotencyKeys.map((key) => idempotencyKey(...bucket, digest(key)));
    const known = await orUnavailable(() => this.#redis.mget(keys));
    return known.map((job) => job !== null);
  }

  job(tenant: string, id: string): Promise<JobView | undefined> {
    return this.#read(tenant, id, '1');
  }

  async output(tenant: string, id: string, after: string, limit: number): Promise<readonly OutputChunk[]> {
    const home = jobHome(this.#settings.shards, tenant, id);
    if (!home) return [];
    const key = outputKey(home.tag, encodeTenant(tenant), id);
    const from = after === '' ? '-' : `(${after}`;
    const entries = await orUnavailable(() => this.#redis.xrange(key, from, '+', 'COUNT', limit));
    return entries.map(([chunkId, fields]) => ({ id: chunkId, json: fields[1] ?? 'null' }));
  }

  async jobs(filter: JobFilter): Promise<JobPage> {
    const after = filter.cursor === undefined ? START : parseCursor(filter.cursor);
    if (after === undefined) return { jobs: [] };
    const page = await this.#run(scripts.page, this.#tagOf(filter.type, filter.tenant), [
      encodeTenant(filter.tenant),
      filter.state,
      after.score,
      after.id,
      filter.limit,
      SCAN_LIMIT,
    ]);
    const jobs = await Promise.all(page.ids.map((id) => this.#read(filter.tenant, id, '0')));
    return {
      jobs: jobs.filter((job) => job !== undefined),
      ...(page.more && { cursor: formatCursor({ score: page.afterScore, id: page.afterId }) }),
    };
  }

  async cancel(tenant: string, id: string): Promise<Cancellation> {
    const home = jobHome(this.#settings.shards, tenant, id);
    if (!home) return 'not_found';
    const { ageMs, count } = (this.#settings.type(home.type) ?? GONE_TYPE).keepResults;
    return this.#run(scripts.cancel, home.tag, ['', encodeTenant(tenant), id, ageMs, count]);
  }

  retry(tenant: string, id: string): Promise<Retrial> {
    return this.#retrying.retry(tenant, id);
  }

  retryFailed(filter: Omit<JobFilter, 'state'>): Promise<BulkRetrial> {
    return this.#retrying.retryFailed(filter);
  }

  async quote(type: string, tenant: string, { count, priority, cost }: QuotedJobs): Promise<Quote> {
    const { slackUs } = typeSettings(this.#settings, type);
    const profile = profileBytes(this.#settings.profile(type, tenant), slackUs);
    const tag = this.#tagOf(type, tenant);
    const jobs = [priority + 1, cost, count, await this.#beside(type, tag)];
    return quoteOf(await this.#run(scripts.quote, tag, ['', encodeTenant(tenant), profile, ...jobs]));
  }

  async bucket(type: string, tenant: string): Promise<BucketView> {
    const { nextStartUs, ...state } = await this.#run(scripts.inspect, this.#tagOf(type, tenant), [
      '',
      encodeTenant(tenant),
    ]);
    return {
      type,
      tenant,
      profile: this.#settings.profile(type, tenant),
      ...state,
      nextStartMs: nextStartUs === null ? null : Math.ceil(nextStartUs / 1000),
    };
  }

  async buckets(type: string, cursor: string | undefined, limit: number): Promise<BucketPage> {
    const page = await orUnavailable(() => tenantsAt(this.#redis, this.#settings.shards.tags(type), cursor, limit));
    const found = await Promise.all(page.tenants.map((tenant) => this.bucket(type, tenant)));
    const buckets = page.only === 'running' ? found.filter(({ waiting, delayed }) => waiting + delayed === 0) : found;
    return { buckets, ...(page.cursor !== undefined && { cursor: page.cursor }) };
  }

  async type(name: string): Promise<TypeView> {
    const tags = this.#settings.shards.tags(name);
    const { dueBuckets, readyBuckets, running, servedPerSecond, meanRunUs, scarceUs } = allShards(
      await Promise.all(tags.map((tag) => this.#run(scripts.stats, tag, ['']))),
    );
    return {
      type: name,
      capacity: typeSettings(this.#settings, name).capacity,
      backloggedBuckets: dueBuckets + readyBuckets,
      ...{ readyBuckets, servedPerSecond },
      running: Math.min(running, await this.#watch.slotsTaken(name)),
      meanRunMs: meanRunUs === 0 ? null : Math.ceil(meanRunUs / 1000),
      scarceForMs: scarceUs === null ? null : Math.ceil(scarceUs / 1000),
    };
  }

  async ping(): Promise<void> {
    const answers = await pingServers(this.#redis, PING_MS);
    if (!allAnswer(answers)) throw new RedisUnavailable(answeringText(answers));
  }

  async #read(tenant: string, id: string, result: '0' | '1'): Promise<JobView | undefined> {
    const home = jobHome(this.#settings.shards, tenant, id);
    if (!home) return undefined;
    // Jobs of a type that is not configured any more are there until their time is over.
    const beside = this.#settings.type(home.type) ? await this.#beside(home.type, home.tag) : '';
    const found = await this.#run(scripts.read, home.tag, ['', encodeTenant(tenant), id, SCAN_LIMIT, result, beside]);
    return found && jobViewOf(home.type, tenant, id, found);
  }

  /** See the script admit. */
  async #beside(type: string, tag: ShardTag): Promise<number | ''> {
    const free = await this.#watch.freeBeside(type, tag);
    return free === Infinity ? '' : free;
  }

  #tagOf(type: string, tenant: string): ShardTag {
    return this.#settings.shards.tagOf(type, tenant);
  }

  #run<Reply>(script: Script<Reply>, tag: ShardTag, argv: readonly Argument[]): Promise<Reply> {
    return orUnavailable(() => runScript(this.#redis, { script, tag, argv }));
  }
}

/** The 13 values of one job in `admit`'s ARGV; `mark` is that of its tenant's webhook. */
function jobArguments(type: string, job: NewJob, attempts: number, mark: string): Argument[] {
  const priority = job.priority + 1; // BullMQ serves jobs without a priority before all others: 0 … 9 become 1 … 10.
  return [
    job.id,
    type,
    priority,
    job.delayMs,
    job.cost,
    job.data,
    formatOptions({ priority, delayMs: job.delayMs, attempts, ...job.retries }),
    job.idempotencyKey === undefined ? '' : digest(job.idempotencyKey),
    job.idempotencyKey === undefined ? '' : digestOf(job),
    job.startByMs ?? '',
    job.requestId ?? '',
    job.runAtMs ?? '',
    job.webhook ? hookMark(job.webhook.events, job.webhook.url) : mark,
  ];
}

/** What a request has to have in common with another one under the same idempotency key. */
function digestOf({ data, priority, delayMs, startByMs, cost, runAtMs, retries, webhook }: NewJob): string {
  return digest(
    JSON.stringify([
      ...[data, priority, delayMs, startByMs ?? null, cost],
      ...(runAtMs === undefined ? [] : [{ runAtMs }]),
      ...(retries ? [retries] : []),
      ...(webhook ? [{ webhook }] : []),
    ]),
  );
}

function digest(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22);
}
