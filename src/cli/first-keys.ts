import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Keys that Headgate made itself, because the configuration states none. */
export interface FirstKeys {
  readonly adminKey?: string;
  /** Proves the tenant `demo`. */
  readonly demoKey?: string;
  /** Where they stand, readable by this user alone. */
  readonly file: string;
  /** Whether this start made them. */
  readonly isNew: boolean;
}

/** The tenant that the demo key proves. */
export const DEMO_TENANT = 'demo';

/** Reads the keys of the data folder, and makes those that are wanted and not there yet. */
export async function firstKeys(dataDir: string, wanted: { admin: boolean; demo: boolean }): Promise<FirstKeys> {
  const file = join(dataDir, 'keys.json');
  const stored = await readStored(file);
  const keys = {
    ...(wanted.admin && { adminKey: stored.adminKey ?? newKey('admin') }),
    ...(wanted.demo && { demoKey: stored.demoKey ?? newKey('demo') }),
  };
  const all = { ...stored, ...keys };
  const isNew = JSON.stringify(all) !== JSON.stringify(stored);
  if (isNew) {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    await writeFile(file, `${JSON.stringify(all, null, 2)}\n`, { mode: 0o600 });
    await chmod(file, 0o600);
  }
  return { ...keys, file, isNew };
}

async function readStored(file: string): Promise<{ adminKey?: string; demoKey?: string }> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch {
    return {};
  }
  const found: unknown = JSON.parse(text);
  const field = (name: string): string | undefined => {
    const value: unknown = typeof found === 'object' && found !== null ? Reflect.get(found, name) : undefined;
    return typeof value === 'string' ? value : undefined;
  };
  const adminKey = field('adminKey');
  const demoKey = field('demoKey');
  return { ...(adminKey !== undefined && { adminKey }), ...(demoKey !== undefined && { demoKey }) };
}

function newKey(kind: 'admin' | 'demo'): string {
  return `hg_${kind}_${randomBytes(24).toString('base64url')}`;
}
