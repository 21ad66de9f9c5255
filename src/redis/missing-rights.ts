import type { Redis } from 'ioredis';
import { withoutArguments } from './private-error.js';
import { asInteger, asList } from './reply.js';
import { commandOf, DIRECT, IN_SCRIPTS, NAME_PATTERNS, type Right } from './rights.js';
import { describeScript, loadLibrary } from './script.js';
import { readLibrary } from './script-source.js';

/** A library of its own, which is loaded before any other. */
export const library = readLibrary([{ file: 'missing_rights' }]);
const script = describeScript(library, 'missing_rights', ['commands...'], (reply) => asList(reply).map(asInteger));

/** What a user may not do that is needed: commands, and patterns of names that are closed to all of them. */
export interface MissingRights {
  readonly commands: readonly string[];
  readonly keys: readonly string[];
  readonly channels: readonly string[];
}

/** A right on names that begin so; `undefined` where it needs no name. */
interface Asked {
  readonly right: Right;
  readonly pattern: string | undefined;
  readonly sample: string;
}

/**
 * Asks the server which rights its user lacks. Nothing is run and no key is touched; a library is loaded into it, unless
 * `mayLoad` is false: then `undefined` says that it is not there.
 */
export async function missingRights(redis: Redis, mayLoad: boolean): Promise<MissingRights | undefined> {
  const asked = [...DIRECT, ...IN_SCRIPTS].flatMap((right) => samplesOf(right, redis.options.keyPrefix ?? ''));
  const argv = asked.map(({ sample }) => sample);
  try {
    if (mayLoad) await loadLibrary(redis, library);
    const missing = await ask(redis, argv);
    return missing && summary(asked, new Set(missing));
  } catch (error) {
    const command = deniedCommand(error);
    if (command === undefined) throw withoutArguments(error);
    return { commands: [command], keys: [], channels: [] };
  }
}

async function ask(redis: Redis, argv: readonly string[]): Promise<readonly number[] | undefined> {
  try {
    return script.parse(await redis.fcall(script.function, 0, ...argv));
  } catch (error) {
    if (error instanceof Error && error.message === 'ERR Function not found') return undefined;
    throw error;
  }
}

function samplesOf(right: Right, keyPrefix: string): Asked[] {
  if (right.needs === 'nothing') return [{ right, pattern: undefined, sample: right.sample }];
  return NAME_PATTERNS.map((pattern) => ({
    right,
    pattern,
    sample: right.sample.replaceAll('KEY', `${keyPrefix}${pattern.replace('*', 'x')}`),
  }));
}

/** A pattern that is closed to all is named once, not with every command; a command that is closed everywhere, too. */
function summary(asked: readonly Asked[], missing: ReadonlySet<number>): MissingRights {
  const isMissing = (each: Asked): boolean => missing.has(asked.indexOf(each) + 1);
  const closed = (needs: Right['needs']): string[] =>
    NAME_PATTERNS.filter((pattern) =>
      asked.every((each) => each.pattern !== pattern || each.right.needs !== needs || isMissing(each)),
    );
  const [keys, channels] = [closed('key'), closed('channel')];
  const explained = ({ right, pattern }: Asked): boolean =>
    pattern !== undefined && (right.needs === 'key' ? keys : channels).includes(pattern);
  const lacking = asked.filter((each) => isMissing(each) && !explained(each)).map(({ right }) => commandOf(right));
  return { commands: [...new Set(lacking)].toSorted(), keys, channels };
}

/** The command that Redis' refusal names. */
export function deniedCommand(error: unknown): string | undefined {
  if (!(error instanceof Error) || !error.message.startsWith('NOPERM')) return undefined;
  return /'([^']+)' command/.exec(error.message)?.[1] ?? 'something';
}
