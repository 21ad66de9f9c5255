import { type OverrideSubject, parseSubject, subjectText } from '../config/override-subject.js';
import type { OverrideValues } from '../config/override-values.js';
import type { OverrideChange } from '../config/read-override.js';
import { channelOn, orUnavailable, type RedisLink } from '../redis/connection.js';
import { OVERRIDES_CHANNEL, overrideKeys } from '../redis/keys.js';
import { runScript } from '../redis/script.js';
import { scripts } from './override-scripts.js';

/** What is stored for one subject, at least as new as that many changes in all. */
export interface StoredOverrides {
  readonly revision: number;
  readonly values: OverrideValues;
}

/** Subjects read by one round trip. */
const PAGE = 200;

/**
 * The overrides in Redis. Every change is one script that counts it and tells all processes; nothing in it expires.
 *
 * Every method throws RedisUnavailable when Redis did not answer.
 */
export class OverrideStore {
  readonly #redis: RedisLink;

  /** The connection is the caller's to close. */
  constructor(redis: RedisLink) {
    this.#redis = redis;
  }

  /** Changes fields of a subject; with `replace`, those that are not named are cleared. Answers what holds then. */
  async change(subject: OverrideSubject, change: OverrideChange, replace: boolean): Promise<StoredOverrides> {
    const text = subjectText(subject);
    const fields = [...change].flatMap(([name, value]) => [name, value ?? '']);
    const argv = [text, channelOn(this.#redis, OVERRIDES_CHANNEL), replace ? '1' : '0', ...fields];
    return orUnavailable(() => runScript(this.#redis, { script: scripts.override, keys: overrideKeys(text), argv }));
  }

  /** How many changes there were. */
  async revision(): Promise<number> {
    const [revision] = overrideKeys('');
    return Number((await orUnavailable(() => this.#redis.get(revision))) ?? 0);
  }

  async read(subject: OverrideSubject): Promise<StoredOverrides> {
    const [revision, , key] = overrideKeys(subjectText(subject));
    // The count first: what is read after it is as new, or newer.
    const replies = await orUnavailable(() => this.#redis.pipeline().get(revision).hgetall(key).exec());
    return { revision: Number(resultAt(replies, 0) ?? 0), values: valuesOf(resultAt(replies, 1)) };
  }

  /**
   * Everything that is stored. What is changed meanwhile may be in it or not; its change is counted beyond `revision`
   * either way.
   */
  async readAll(): Promise<{ readonly revision: number; readonly all: ReadonlyMap<string, OverrideValues> }> {
    const revision = await this.revision();
    const [, subjects] = overrideKeys('');
    const names = (await orUnavailable(() => this.#redis.smembers(subjects))).filter(
      (name) => parseSubject(name) !== undefined,
    );
    const all = new Map<string, OverrideValues>();
    for (let from = 0; from < names.length; from += PAGE) {
      const page = names.slice(from, from + PAGE);
      const pipeline = this.#redis.pipeline();
      for (const name of page) pipeline.hgetall(overrideKeys(name)[2]);
      const replies = await orUnavailable(() => pipeline.exec());
      page.forEach((name, i) => {
        const values = valuesOf(resultAt(replies, i));
        if (values.size > 0) all.set(name, values);
      });
    }
    return { revision, all };
  }
}

function resultAt(replies: [error: Error | null, result: unknown][] | null, i: number): unknown {
  const [error, result] = replies?.[i] ?? [new Error('Redis gave no reply')];
  if (error) throw error;
  return result;
}

function valuesOf(hash: unknown): OverrideValues {
  return new Map(Object.entries(Object(hash)).map(([name, value]) => [name, String(value)]));
}
