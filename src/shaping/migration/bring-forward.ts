import { type Connected, servingProcesses } from '../../redis/connected.js';
import { orUnavailable, type RedisLink } from '../../redis/connection.js';
import { type ShardTag, scheduleKeys } from '../../redis/keys.js';
import { allAnswer, answeringText, pingServers } from '../../redis/masters.js';
import { RedisUnavailable } from '../../redis/outage.js';
import { runScript } from '../../redis/script.js';
import { comesForward, OtherData, STORED_FORMAT } from '../stored-data.js';
import { closeOlderVersions } from './closed-versions.js';
import { STEPS, type Step } from './forward-scripts.js';
import { type StoredShard, storedBuckets, storedShards } from './stored-shards.js';

/** Names that one call of a script brings forward: 0.5 ms in which Redis does nothing else. */
const BITE = 100;
const ANSWER_MS = 5000;

/** What was brought forward so far, and in the end. */
export interface Progress {
  readonly buckets: number;
  readonly runs: number;
}

/** What `headgate migrate` found, and did unless it only looked. */
export interface Migration extends Progress {
  /** The shards whose data was older, as it stood before. */
  readonly older: readonly StoredShard[];
  /** Libraries of scripts of older versions that were taken out of use. */
  readonly closed: readonly string[];
}

/** Somebody still serves what is to be brought forward. */
export class StillServed extends Error {
  override readonly name = 'StillServed';

  constructor(connections: readonly Connected[]) {
    const who = connections.map(({ name, address }) => `${name} (${address})`);
    super(`processes of Headgate are connected, and all have to end before: ${who.join(', ')}; nothing was changed`);
  }
}

/** What older data there is. Writes nothing. Throws {@link OtherData} where there is any that this version cannot bring forward. */
export async function olderData(redis: RedisLink): Promise<readonly StoredShard[]> {
  const answers = await pingServers(redis, ANSWER_MS);
  if (!allAnswer(answers)) throw new RedisUnavailable(`Redis: ${answeringText(answers)}`);
  const older = (await storedShards(redis)).filter(({ format }) => format !== String(STORED_FORMAT));
  const foreign = older.find(({ format }) => !comesForward(format));
  if (foreign) throw new OtherData(foreign.type, 'format', foreign.format, 1);
  return older;
}

/**
 * Brings all that is stored of jobs forward to the form that this version reads, of every type that is there.
 *
 * While that goes on no process starts over a type of which something is left to do (its first shard is marked first and unmarked last),
 * and scripts of older versions do nothing any more, whoever calls them. It may be ended at any moment and done again, by two
 * processes at once too: it goes on from where it was. Names are taken a few at a time, so that Redis serves others meanwhile.
 *
 * @param onProgress Told after each bite.
 * @throws StillServed Somebody is connected who may serve jobs, and nothing was changed.
 */
export async function bringForward(
  redis: RedisLink,
  onProgress: (progress: Progress) => void = () => undefined,
): Promise<Migration> {
  const older = await olderData(redis);
  const done = { buckets: 0, runs: 0 };
  if (older.length === 0) return { older, closed: [], ...done };
  const connections = await servingProcesses(redis);
  if (connections.length > 0) throw new StillServed(connections);
  const closed = await closeOlderVersions(redis);
  for (const step of STEPS) {
    const shards = (await olderData(redis)).filter(({ format }) => format.split('>')[0] === String(step.from));
    const bring = new Bringing(redis, step, (what, count) => {
      done[what] += count;
      onProgress({ ...done });
    });
    await bring.all(shards);
  }
  return { older, closed, ...done };
}

/** One step of data from a version to the next, of shards in the order of their numbers. */
class Bringing {
  readonly #redis: RedisLink;
  readonly #step: Step;
  readonly #count: (what: keyof Progress, count: number) => void;

  constructor(redis: RedisLink, step: Step, count: (what: keyof Progress, count: number) => void) {
    this.#redis = redis;
    this.#step = step;
    this.#count = count;
  }

  async all(shards: readonly StoredShard[]): Promise<void> {
    for (const shard of shards) await this.#run(shard.tag, 'begin');
    // Where slots move meanwhile, a key may be missed by one look at all of them.
    while ((await this.#buckets(new Set(shards.map(({ tag }) => tag)))) > 0);
    for (const { tag } of shards) await this.#runs(tag);
    for (const shard of shards.toReversed()) await this.#run(shard.tag, 'end');
  }

  async #buckets(tags: ReadonlySet<ShardTag>): Promise<number> {
    let brought = 0;
    for await (const page of storedBuckets(this.#redis)) {
      for (const [tag, tenants] of page) if (tags.has(tag)) brought += await this.#bites(tag, 'buckets', tenants);
    }
    return brought;
  }

  async #runs(tag: ShardTag): Promise<void> {
    const { running } = scheduleKeys(tag);
    let cursor = '0';
    do {
      const [next, entries] = await orUnavailable(() => this.#redis.hscan(running, cursor, 'COUNT', BITE));
      cursor = next;
      await this.#bites(
        tag,
        'runs',
        entries.filter((_, i) => i % 2 === 0),
      );
    } while (cursor !== '0');
  }

  async #bites(tag: ShardTag, what: keyof Progress, names: readonly string[]): Promise<number> {
    let brought = 0;
    for (let from = 0; from < names.length; from += BITE) {
      const count = await this.#run(tag, what, names.slice(from, from + BITE));
      brought += count;
      this.#count(what, count);
    }
    return brought;
  }

  async #run(tag: ShardTag, what: string, names: readonly string[] = []): Promise<number> {
    const { script, from } = this.#step;
    const argv = [what, ...names];
    const brought = await orUnavailable(() => runScript(this.#redis, { script, tag, argv }));
    if (brought < 0) throw new Error(`${tag} holds data that is not of format ${from}: it was left as it is`);
    return brought;
  }
}
