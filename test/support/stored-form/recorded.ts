import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { RedisLink } from '../../../src/redis/connection.js';
import type { RecordedForm } from './world.js';

/** What a build of this form has left, as `record.ts` recorded it. */
export function recordedForm(name: 'form-3' | 'form-4'): RecordedForm {
  return JSON.parse(readFileSync(new URL(`${name}.json`, import.meta.url), 'utf8'));
}

/** Puts all keys into Redis, under other names where `rename` says so. */
export async function restore(
  redis: RedisLink,
  form: RecordedForm,
  rename: (key: string) => string = (key) => key,
): Promise<void> {
  for (const [key, [ttlMs, dump]] of Object.entries(form.keys)) {
    await redis.restore(rename(key), Math.max(0, ttlMs), Buffer.from(dump, 'base64'), 'REPLACE');
  }
}

/** The texts that the build loaded for its jobs. */
export function librariesOf({ libraries }: RecordedForm): string[] {
  return libraries.map((library) => gunzipSync(Buffer.from(library, 'base64')).toString());
}
