import { createHash } from 'node:crypto';

/** The texts of BullMQ's scripts by name. */
export type Texts = ReadonlyMap<string, string>;

/** The scripts that Headgate was built on: names and SHA-256 of their texts. */
export type Pinned = Readonly<Record<string, string>>;

/** One sentence for every script that is not what it was when Headgate was built on it. */
export function changedScripts(pinned: Pinned, texts: Texts): string[] {
  return Object.entries(pinned).flatMap(([name, sha256]) => {
    const text = texts.get(name);
    if (text === undefined) return [`BullMQ has no script "${name}" any more: follow docs/bullmq-upgrade.md.`];
    if (createHash('sha256').update(text).digest('hex') === sha256) return [];
    return [`BullMQ's script "${name}" has changed, and Headgate contains it: follow docs/bullmq-upgrade.md.`];
  });
}
