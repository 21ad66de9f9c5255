import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fakeTimeLibrary } from '../../support/debian-program.js';

/** A wall clock for one program, which can be stepped while it runs. Its monotonic clock is the machine's own. */
export interface FakeClock {
  /** For the environment of the program. */
  readonly env: Environment;
  /** Puts it so many seconds before (or, negative, behind) the true time; the program sees it within about a second. */
  set(offsetSeconds: number): Promise<void>;
  remove(): Promise<void>;
}

type Environment = Readonly<Record<string, string>>;

/** The environment of a program whose wall clock is so many seconds before (or, negative, behind) the true time. */
export async function wrongClock(offsetSeconds: number): Promise<Environment> {
  return { ...(await preload()), FAKETIME: written(offsetSeconds) };
}

/** A wall clock that shows the true time until it is set. */
export async function fakeClock(): Promise<FakeClock> {
  const dir = await mkdtemp(join(tmpdir(), 'hg-clock-'));
  const file = join(dir, 'offset');
  const set = async (offsetSeconds: number) => {
    // In one step: the program looks at any moment.
    await writeFile(`${file}.new`, written(offsetSeconds));
    await rename(`${file}.new`, file);
  };
  await set(0);
  return {
    env: { ...(await preload()), FAKETIME_TIMESTAMP_FILE: file, FAKETIME_CACHE_DURATION: '1' },
    set,
    remove: () => rm(dir, { recursive: true, force: true }),
  };
}

async function preload(): Promise<Environment> {
  return {
    // The C library before the rest: Redis brings a malloc of its own, which looks at the clock while it is set up, and
    // the clock's library allocates while it is set up.
    LD_PRELOAD: `${await fakeTimeLibrary()}:libc.so.6`,
    // Two names, for two ages of the library.
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    DONT_FAKE_MONOTONIC: '1',
  };
}

function written(offsetSeconds: number): string {
  return `${offsetSeconds < 0 ? '' : '+'}${offsetSeconds}`;
}

/** Runs `start` with variables in the environment that what it starts inherits. */
export async function withEnvironment<Started>(env: Environment, start: () => Promise<Started>): Promise<Started> {
  const before = { ...process.env };
  Object.assign(process.env, env);
  try {
    return await start();
  } finally {
    for (const name of Object.keys(env)) {
      const value = before[name];
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}
