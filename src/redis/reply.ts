/** Readers of raw Redis replies. Each throws when the reply is not of the shape that the script's header states. */

export function asList(reply: unknown): readonly unknown[] {
  if (!Array.isArray(reply)) throw new TypeError(`expected a list from Redis, got ${typeof reply}`);
  return reply;
}

export function asInteger(reply: unknown): number {
  const value = typeof reply === 'number' ? reply : Number(asText(reply));
  if (!Number.isInteger(value)) throw new TypeError(`expected an integer from Redis, got ${String(reply)}`);
  return value;
}

export function asNumber(reply: unknown): number {
  const value = typeof reply === 'number' ? reply : Number(asText(reply));
  if (Number.isNaN(value)) throw new TypeError(`expected a number from Redis, got ${String(reply)}`);
  return value;
}

export function asText(reply: unknown): string {
  if (typeof reply === 'string') return reply;
  if (typeof reply === 'number') return String(reply);
  throw new TypeError(`expected text from Redis, got ${reply === null ? 'nil' : typeof reply}`);
}

export function asTexts(reply: unknown): string[] {
  return asList(reply).map(asText);
}

/** One of `words`, as the script's header lists them. */
export function asWord<const Word extends string>(reply: unknown, words: readonly Word[]): Word {
  const text = asText(reply);
  const word = words.find((candidate) => candidate === text);
  if (word === undefined) throw new TypeError(`expected one of ${words.join(', ')} from Redis, got ${text}`);
  return word;
}

/** A flat list of names and values, as HGETALL gives it inside a script. */
export function asFields(reply: unknown): ReadonlyMap<string, string> {
  const flat = asTexts(reply);
  const fields = new Map<string, string>();
  for (let i = 0; i + 1 < flat.length; i += 2) fields.set(flat[i] ?? '', flat[i + 1] ?? '');
  return fields;
}
