import type { Redis } from 'ioredis';
import type { RedisLink } from './connection.js';
import { askMasters } from './masters.js';
import { withoutArguments } from './private-error.js';

/** A library of functions as FUNCTION LIST shows it. */
export interface ListedLibrary {
  readonly name: string;
  readonly functions: readonly string[];
}

/**
 * Takes libraries of Headgate out of use for good: their functions stay, by their names, in a library that only says why. A process
 * that calls them, now or whenever it comes back, gets that error and has changed nothing; and it cannot load its own text again,
 * since Redis has one function of a name. On every master, each library in one step.
 *
 * @param isClosed Which of those that are there.
 * @returns their names.
 */
export async function closeLibraries(
  redis: RedisLink,
  isClosed: (library: ListedLibrary) => boolean,
  reason: string,
): Promise<readonly string[]> {
  const closed = await askMasters(redis, async (master) => {
    const found = parseLibraries(await master.function('LIST', 'LIBRARYNAME', 'headgate_*')).filter(isClosed);
    for (const library of found) await close(master, library, reason);
    return found.map(({ name }) => name);
  });
  return [...new Set(closed.flat())].toSorted();
}

async function close(master: Redis, library: ListedLibrary, reason: string): Promise<void> {
  try {
    const both = master.multi().function('DELETE', library.name);
    const replies = await both.function('LOAD', 'REPLACE', closedText(library, reason)).exec();
    for (const [error] of replies ?? []) if (error) throw error;
  } catch (error) {
    // Where Redis would not take one of the two it did neither, and the client hangs its reason on an error that says nothing.
    const [cause] = error instanceof Error && 'previousErrors' in error ? listOf(error.previousErrors) : [];
    throw withoutArguments(cause ?? error);
  }
}

function closedText({ name, functions }: ListedLibrary, reason: string): string {
  const registered = functions.map((each) => `redis.register_function('${each}', closed)`);
  return [
    // Whoever deletes what begins with headgate_ does not open them again.
    `#!lua name=closed_${name}`,
    `local function closed() return redis.error_reply('ERR ${reason}') end`,
    ...registered,
  ].join('\n');
}

/** FUNCTION LIST answers lists of names and values, one after another. */
function parseLibraries(reply: unknown): ListedLibrary[] {
  return listOf(reply).map((library) => {
    const functions = listOf(fieldOf(library, 'functions')).map((each) => String(fieldOf(each, 'name')));
    return { name: String(fieldOf(library, 'library_name')), functions };
  });
}

function fieldOf(pairs: unknown, name: string): unknown {
  const flat = listOf(pairs);
  return flat[flat.indexOf(name) + 1];
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
