import type { ChainableCommander } from 'ioredis';
import type { RedisLink } from './connection.js';
import { type Argument, FunctionCall } from './function-call.js';
import { type ShardTag, scriptKeys } from './keys.js';
import { askMasters, isCluster } from './masters.js';
import { withoutArguments } from './private-error.js';
import { keyOf, type Library, type Verb } from './script-source.js';

export type { Argument } from './function-call.js';

/** A verb of a library, and how its reply is read. */
export interface Script<Reply> {
  readonly library: Library;
  /** Its name as people know it, the same in every version. */
  readonly verb: string;
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
  return { library, verb: key, function: found.name, parse };
}

/** One call of a script: on a shard, whose keys the script knows, or with KEYS of its own, which on a cluster share a slot. */
export type ScriptCall<Reply> = {
  readonly script: Script<Reply>;
  readonly argv: readonly Argument[];
} & ({ readonly tag: ShardTag } | { readonly keys: readonly string[] });

function keysOf(call: ScriptCall<unknown>): readonly string[] {
  return 'keys' in call ? call.keys : scriptKeys(call.tag);
}

/** KEYS go with what every key over this connection begins with. */
function commandOf({ options: { keyPrefix = '' } }: RedisLink, call: ScriptCall<unknown>): FunctionCall {
  const keys = keysOf(call).map((key) => keyPrefix + key);
  return new FunctionCall(call.script.function, keys, call.argv);
}

/** A way to run a script. */
export type RunScript = <Reply>(call: ScriptCall<Reply>) => Promise<Reply>;

/** Loads under way, so that many calls that meet an empty Redis load a library once. */
const loading = new WeakMap<RedisLink, Map<Library, Promise<void>>>();

/** A call that meets an empty Redis so often in a row meets one that is being emptied on purpose. */
export const MAX_LOADS = 5;

/** Told how long a call took, as its caller waited for it, in milliseconds; whether it was answered or not. */
export type ScriptWatcher = (verb: string, durationMs: number) => void;

const watchers = new WeakMap<RedisLink, ScriptWatcher>();

/** Has every later call over this connection told to `watcher`, in place of the one before. */
export function watchScripts(redis: RedisLink, watcher: ScriptWatcher): void {
  watchers.set(redis, watcher);
}

/** Has the watcher of a connection told of calls. */
export function watched<Reply>(
  redis: RedisLink,
  calls: readonly ScriptCall<unknown>[],
  run: () => Promise<Reply>,
): Promise<Reply> {
  const watcher = watchers.get(redis);
  if (watcher === undefined) return run();
  const calledAt = performance.now();
  return run().finally(() => {
    const durationMs = performance.now() - calledAt;
    for (const { script } of calls) watcher(script.verb, durationMs);
  });
}

/** Gives a library to Redis, to every master of a cluster that is there, whether or not it has it already. */
export function loadLibrary(redis: RedisLink, library: Library): Promise<void> {
  const underWay = loading.get(redis) ?? new Map<Library, Promise<void>>();
  loading.set(redis, underWay);
  const load = underWay.get(library) ?? sendLibrary(redis, library).finally(() => underWay.delete(library));
  underWay.set(library, load);
  return load;
}

async function sendLibrary(redis: RedisLink, library: Library): Promise<void> {
  try {
    await askMasters(redis, (master) => master.function('LOAD', 'REPLACE', library.text));
  } catch (error) {
    if (isUnknownCommand(error))
      throw new Error('this Redis does not know functions: Headgate needs Redis 7.0 or later');
    throw withoutArguments(error);
  }
}

function isUnknownCommand(error: unknown): boolean {
  return error instanceof Error && /^ERR unknown command/i.test(error.message);
}

/**
 * Runs a script. Where Redis does not know it (it is new, or was flushed), it is loaded and run again: it had not begun.
 * Errors are those of Redis without what was sent to it, which is nobody else's business.
 */
export function runScript<Reply>(redis: RedisLink, call: ScriptCall<Reply>): Promise<Reply> {
  return watched(redis, [call], () => runOne(redis, call));
}

async function runOne<Reply>(redis: RedisLink, call: ScriptCall<Reply>): Promise<Reply> {
  const { script } = call;
  for (let loads = 0; ; loads += 1) {
    try {
      return script.parse(await redis.sendCommand(commandOf(redis, call)));
    } catch (error) {
      if (!isUnknownFunction(error) || loads === MAX_LOADS) throw withoutArguments(error);
    }
    await loadLibrary(redis, script.library);
  }
}

type ScriptReply<Reply> = { readonly reply: Reply } | { readonly error: Error };

/**
 * Runs several calls in one pipeline, on a cluster each by itself, so that it is sent after its slot where that moves; one reply
 * or error each, in their order. Those that Redis did not know are loaded and sent again in another pipeline: none of them had begun.
 */
export function runScripts<Reply>(
  redis: RedisLink,
  calls: readonly ScriptCall<Reply>[],
): Promise<ScriptReply<Reply>[]> {
  return watched(redis, calls, () => (isCluster(redis) ? runEach(redis, calls) : runAll(redis, calls)));
}

function runEach<Reply>(redis: RedisLink, calls: readonly ScriptCall<Reply>[]): Promise<ScriptReply<Reply>[]> {
  return Promise.all(
    calls.map(async (call): Promise<ScriptReply<Reply>> => {
      try {
        return { reply: await runOne(redis, call) };
      } catch (error) {
        return { error: error instanceof Error ? error : new Error(String(error)) };
      }
    }),
  );
}

async function runAll<Reply>(redis: RedisLink, calls: readonly ScriptCall<Reply>[]): Promise<ScriptReply<Reply>[]> {
  const answers = await pipeline(redis, calls);
  for (let loads = 0; loads < MAX_LOADS; loads += 1) {
    const unknown = calls.flatMap((call, i) => (isUnknownFunction(answers[i]?.[0]) ? [{ call, i }] : []));
    if (unknown.length === 0) break;
    for (const library of new Set(unknown.map(({ call }) => call.script.library))) await loadLibrary(redis, library);
    const again = await pipeline(
      redis,
      unknown.map(({ call }) => call),
    );
    unknown.forEach(({ i }, at) => {
      answers[i] = again[at] ?? NO_ANSWER;
    });
  }
  return calls.map(({ script }, i) => {
    const [error, reply] = answers[i] ?? NO_ANSWER;
    return error ? { error: withoutArguments(error) } : { reply: script.parse(reply) };
  });
}

/** What a pipeline says of one command. */
export type Answer = [error: Error | null, reply?: unknown];
export const NO_ANSWER: Answer = [new Error('Redis gave no reply')];

/** Sends several calls in one pipeline, and what `further` adds behind them; whatever Redis answered, in that order. */
export async function pipeline(
  redis: RedisLink,
  calls: readonly ScriptCall<unknown>[],
  further: (batch: ChainableCommander) => void = () => undefined,
): Promise<Answer[]> {
  const batch = redis.pipeline();
  for (const call of calls) {
    const keys = keysOf(call);
    batch.fcall(call.script.function, keys.length, ...keys, ...call.argv);
  }
  further(batch);
  return (await batch.exec()) ?? [];
}

/** Whether Redis said that it does not know a function: it was flushed, or is another server. */
export function isUnknownFunction(error: unknown): boolean {
  return error instanceof Error && error.message === 'ERR Function not found';
}
