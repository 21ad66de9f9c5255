import type { Redis } from 'ioredis';
import { type ShardTag, scriptKeys } from './keys.js';
import { keyOf, type Library, type Verb } from './script-source.js';

/** One value of ARGV. Binary values go as they are. */
export type Argument = string | number | Buffer;

/** A verb of a library, and how its reply is read. */
export interface Script<Reply> {
  readonly library: Library;
  /** Its name as a function of Redis. */
  readonly function: string;
  readonly parse: (reply: unknown) => Reply;
}

/** Describes a verb. Throws when `argv` is not what the file's header says: the two must not drift apart. */
export function describeScript<Reply>(
  library: Library,
  verb: Verb | string,
  argv: readonly string[],
  parse: (reply: unknown) => Reply,
): Script<Reply> {
  const key = typeof verb === 'string' ? verb : keyOf(verb);
  const found = library.functions.get(key);
  if (!found) throw new Error(`the library has no verb ${key}`);
  if (found.argv.join() !== argv.join()) {
    throw new Error(`${key} takes (${found.argv.join(', ')}), but its caller gives (${argv.join(', ')})`);
  }
  return { library, function: found.name, parse };
}

/** One call of a script on one shard. */
export interface ScriptCall<Reply> {
  readonly script: Script<Reply>;
  readonly tag: ShardTag;
  readonly argv: readonly Argument[];
}

/** Loads under way, so that many calls that meet an empty Redis load a library once. */
const loading = new WeakMap<Redis, Map<Library, Promise<unknown>>>();

/** Gives a library to Redis, whether or not it has it already. */
export async function loadLibrary(redis: Redis, library: Library): Promise<void> {
  const underWay = loading.get(redis) ?? new Map<Library, Promise<unknown>>();
  loading.set(redis, underWay);
  const load = underWay.get(library) ?? redis.function('LOAD', 'REPLACE', library.text);
  underWay.set(library, load);
  try {
    await load;
  } finally {
    underWay.delete(library);
  }
}

/** Runs a script. Where Redis does not know it (it is new, or was flushed), it is loaded and run again: it had not begun. */
export async function runScript<Reply>(redis: Redis, { script, tag, argv }: ScriptCall<Reply>): Promise<Reply> {
  const keys = scriptKeys(tag);
  const call = (): Promise<unknown> => redis.fcall(script.function, keys.length, ...keys, ...argv);
  try {
    return script.parse(await call());
  } catch (error) {
    if (!isUnknownFunction(error)) throw error;
    await loadLibrary(redis, script.library);
    return script.parse(await call());
  }
}

/**
 * Runs several calls in one pipeline; one reply or error each, in their order. Those that Redis did not know are loaded
 * and sent again in a second pipeline: none of them had begun.
 */
export async function runScripts<Reply>(
  redis: Redis,
  calls: readonly ScriptCall<Reply>[],
): Promise<({ reply: Reply } | { error: Error })[]> {
  const first = await pipeline(redis, calls);
  const unknown = calls.filter((_, i) => isUnknownFunction(first[i]?.[0]));
  for (const library of new Set(unknown.map(({ script }) => script.library))) await loadLibrary(redis, library);
  const second = unknown.length > 0 ? await pipeline(redis, unknown) : [];
  let next = 0;
  return calls.map((call, i) => {
    const [error, reply] = (isUnknownFunction(first[i]?.[0]) ? second[next++] : first[i]) ?? [new Error('no reply')];
    return error ? { error } : { reply: call.script.parse(reply) };
  });
}

async function pipeline<Reply>(
  redis: Redis,
  calls: readonly ScriptCall<Reply>[],
): Promise<[error: Error | null, reply?: unknown][]> {
  const batch = redis.pipeline();
  for (const { script, tag, argv } of calls) {
    const keys = scriptKeys(tag);
    batch.fcall(script.function, keys.length, ...keys, ...argv);
  }
  return (await batch.exec()) ?? [];
}

function isUnknownFunction(error: unknown): boolean {
  return error instanceof Error && error.message === 'ERR Function not found';
}
