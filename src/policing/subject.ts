import { createHash } from 'node:crypto';
import { toUSVString } from 'node:util';
import type { Limit, LimitAlgorithm } from '../model/limit.js';
import type { Caller } from './policing.js';

/**
 * Whose calls count together, as one text made of parts. Each part says how long it is before it begins, so two subjects
 * are the same text only if they are made of the same parts: ("a", "bc") and ("ab", "c") differ, and no character of a
 * stranger's has a meaning here. A long part is replaced by its digest, so that a key of a megabyte costs as little as
 * one of 64 bytes.
 */

/** A part of more bytes is replaced by its digest. */
const MAX_PART_BYTES = 64;
/** A character of UTF-16 is at most so many bytes of UTF-8; a pair of them 4. */
const MAX_BYTES_PER_UNIT = 3;

const ALGORITHM_LETTERS: Readonly<Record<LimitAlgorithm, string>> = {
  'token-bucket': 'b',
  'sliding-window-log': 'l',
  'sliding-window-counter': 'c',
};

/**
 * The subject of a call at the limit that stands at `index` in its policy; at most some 220 bytes. The caller's tier is
 * no part of it: a tenant that changes its tier keeps its level.
 */
export function subjectOf(policy: string, index: number, limit: Limit, caller: Caller): string {
  const of = limitSubject(policy, index, limit);
  return limit.per === 'key' ? of + callerSubject(caller) : of;
}

/**
 * The part of a subject that says which limit: all of it with `per: policy`, else what {@link callerSubject} follows. Tiers
 * share a limit over the whole policy if they state it alike: one bucket cannot be full by two measures.
 */
export function limitSubject(policy: string, index: number, limit: Limit): string {
  return `${part(policy)}${index}${ALGORITHM_LETTERS[limit.algorithm]}${measureOf(limit)};`;
}

function measureOf(limit: Limit): string {
  if (limit.algorithm !== 'token-bucket') return `${limit.windowMs}`;
  return limit.per === 'policy' ? `${limit.ratePerSecond}/${limit.burst}` : '';
}

/**
 * The part of a subject that says who calls: the tenant, or else the address, or else nobody in particular; and the
 * caller's own key within that. A tenant never shares with an address of the same text.
 */
export function callerSubject({ tenant, address, key }: Caller): string {
  const who = tenant !== undefined ? `t${part(tenant)}` : address !== undefined ? `a${part(address)}` : 'n';
  return key === undefined ? who : `${who}k${part(key)}`;
}

/**
 * `<length>:<text>`, or the digest behind a mark that no length begins with. Texts that differ in any byte differ here,
 * also those that UTF-8 cannot write: half a surrogate pair would become the same replacement as any other half.
 */
function part(text: string): string {
  if (toUSVString(text) !== text) return `~${digest(Buffer.from(text, 'utf16le'))}`;
  const { length } = text;
  const isShort =
    length * MAX_BYTES_PER_UNIT <= MAX_PART_BYTES ||
    (length <= MAX_PART_BYTES && Buffer.byteLength(text) <= MAX_PART_BYTES);
  return isShort ? `${length}:${text}` : `#${digest(text)}`;
}

function digest(bytes: string | Buffer): string {
  return createHash('sha256').update(bytes).digest('base64url');
}
