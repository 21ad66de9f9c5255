import type { Redis } from 'ioredis';
import { type ShardTag, scriptKeys } from './keys.js';
import { readScript, type ScriptSource } from './script-source.js';

/** One value of ARGV. Binary values go as they are. */
export type Argument = string | number | Buffer;

/** A script, the names of its arguments, and how its reply is read. */
export interface Script<Reply> {
  readonly source: ScriptSource;
  readonly parse: (reply: unknown) => Reply;
}

/** Describes `lua/<name>.lua`. Throws when `argv` is not what the script's header says: the two must not drift apart. */
export function describeScript<Reply>(
  name: string,
  argv: readonly string[],
  parse: (reply: unknown) => Reply,
  parameters: Readonly<Record<string, string>> = {},
): Script<Reply> {
  const source = readScript(name, parameters);
  if (source.argv.join() !== argv.join()) {
    throw new Error(`${name}.lua takes (${source.argv.join(', ')}), but its caller gives (${argv.join(', ')})`);
  }
  return { source, parse };
}

/** One call of a script on one shard. */
export interface ScriptCall<Reply> {
  readonly script: Script<Reply>;
  readonly tag: ShardTag;
  readonly argv: readonly Argument[];
}

/** Gives scripts to Redis ahead of their first call, which would otherwise be the slow one. */
export async function loadScripts(redis: Redis, scripts: Iterable<Script<unknown>>): Promise<void> {
  await Promise.all(Array.from(scripts, ({ source }) => redis.script('LOAD', source.text)));
}

/** Runs a script by its hash, or by its text where Redis does not know it (after a restart, a failover or a flush). */
export async function runScript<Reply>(redis: Redis, call: ScriptCall<Reply>): Promise<Reply> {
  const { source, parse } = call.script;
  const keys = scriptKeys(call.tag);
  try {
    return parse(await redis.evalsha(source.sha, keys.length, ...keys, ...call.argv));
  } catch (error) {
    if (!isNoScript(error)) throw error;
    return parse(await redis.eval(source.text, keys.length, ...keys, ...call.argv));
  }
}

/**
 * Runs several calls in one pipeline; one reply or error each, in their order. Those that met NOSCRIPT are sent again by
 * text in a second pipeline: none of them had begun.
 */
export async function runScripts<Reply>(
  redis: Redis,
  calls: readonly ScriptCall<Reply>[],
): Promise<({ reply: Reply } | { error: Error })[]> {
  const first = await pipeline(redis, calls, 'evalsha');
  const unknown = calls.filter((_, i) => isNoScript(first[i]?.[0]));
  const second = unknown.length > 0 ? await pipeline(redis, unknown, 'eval') : [];
  let next = 0;
  return calls.map((call, i) => {
    const [error, reply] = (isNoScript(first[i]?.[0]) ? second[next++] : first[i]) ?? [new Error('no reply')];
    return error ? { error } : { reply: call.script.parse(reply) };
  });
}

async function pipeline<Reply>(
  redis: Redis,
  calls: readonly ScriptCall<Reply>[],
  how: 'evalsha' | 'eval',
): Promise<[error: Error | null, reply?: unknown][]> {
  const batch = redis.pipeline();
  for (const { script, tag, argv } of calls) {
    const keys = scriptKeys(tag);
    const body = how === 'eval' ? script.source.text : script.source.sha;
    batch[how](body, keys.length, ...keys, ...argv);
  }
  return (await batch.exec()) ?? [];
}

function isNoScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}
