import type { BulkRetrial, Retrial } from '../model/verdict.js';
import { orUnavailable, type RedisLink } from '../redis/connection.js';
import { encodeTenant } from '../redis/keys.js';
import { runScript } from '../redis/script.js';
import { type Cursor, formatCursor, parseCursor } from './cursor.js';
import { jobHome } from './job-home.js';
import { msOf } from './ms-of.js';
import { profileBytes } from './profile-bytes.js';
import { type RetryVerdict, scripts } from './scripts.js';
import { type Settings, typeSettings } from './settings.js';
import type { JobFilter } from './shaping.js';

/** Jobs that one script lets wait again: some 10 ms in which Redis does nothing else. */
const CHUNK = 200;
/** Entries of the failed set that one page looks at. */
const SCAN = 1000;
/** Before the first failed job. */
const START: Cursor = { score: '0', id: '0' };

/** Lets failed jobs wait again. The connection is the caller's to close. */
export class Retrying {
  readonly #redis: RedisLink;
  readonly #settings: Settings;

  constructor(redis: RedisLink, settings: Settings) {
    this.#redis = redis;
    this.#settings = settings;
  }

  /** One job. */
  async retry(tenant: string, id: string): Promise<Retrial> {
    const home = jobHome(this.#settings.shards, tenant, id);
    if (!home || !this.#settings.type(home.type)) return { verdict: 'not_found' };
    const [verdict = { kind: 'not_found' }] = await this.#send(home.type, tenant, [id]);
    return verdict.kind === 'bucket_full' ? refusalOf(verdict) : { verdict: verdict.kind };
  }

  /** A page of the failed jobs of a bucket. What the bucket has no room for stays failed, and the cursor where it was. */
  async retryFailed({ type, tenant, limit, cursor }: Omit<JobFilter, 'state'>): Promise<BulkRetrial> {
    const after = cursor === undefined ? START : parseCursor(cursor);
    if (after === undefined) return { retried: 0 };
    const argv = [encodeTenant(tenant), 'failed', after.score, after.id, limit, SCAN];
    const tag = this.#settings.shards.tagOf(type, tenant);
    const page = await orUnavailable(() => runScript(this.#redis, { script: scripts.page, tag, argv }));
    let retried = 0;
    for (let first = 0; first < page.ids.length; first += CHUNK) {
      const verdicts = await this.#send(type, tenant, page.ids.slice(first, first + CHUNK));
      retried += verdicts.filter(({ kind }) => kind === 'retried').length;
      const full = verdicts.find((verdict) => verdict.kind === 'bucket_full');
      if (full) return { retried, refusal: refusalOf(full), cursor: formatCursor(after) };
    }
    return { retried, ...(page.more && { cursor: formatCursor({ score: page.afterScore, id: page.afterId }) }) };
  }

  #send(type: string, tenant: string, ids: readonly string[]): Promise<RetryVerdict[]> {
    const { slackUs } = typeSettings(this.#settings, type);
    const profile = profileBytes(this.#settings.profile(type, tenant), slackUs);
    const argv = ['', encodeTenant(tenant), profile, ...ids];
    const tag = this.#settings.shards.tagOf(type, tenant);
    return orUnavailable(() => runScript(this.#redis, { script: scripts.retry, tag, argv }));
  }
}

function refusalOf({ limit, retryUs }: RetryVerdict & { kind: 'bucket_full' }) {
  const retryAfterMs = retryUs === null ? null : msOf(retryUs);
  return { verdict: 'rejected', reason: 'bucket_full', limit, retryAfterMs } as const;
}
