import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../../../src/config/config.js';
import { loadConfig } from '../../../src/config/load-config.js';
import { hashKey, type KeyEntry } from '../../../src/http/keyring.js';

export const KEYS = {
  admin: 'admin-key-0123456789',
  acme: 'acme-key-0123456789',
  small: 'small-key-0123456789',
  gateway: 'gateway-key-0123456789',
  worker: 'worker-key-0123456789',
  wordsWorker: 'words-worker-key-0123456789',
} as const;

/** The same, for a keyring. */
export const KEY_ENTRIES: readonly KeyEntry[] = [
  { hash: hashKey(KEYS.admin), principal: { kind: 'admin' } },
  { hash: hashKey(KEYS.acme), principal: { kind: 'tenant', tenant: 'acme' } },
  { hash: hashKey(KEYS.small), principal: { kind: 'tenant', tenant: 'small' } },
  { hash: hashKey(KEYS.gateway), principal: { kind: 'gateway' } },
  { hash: hashKey(KEYS.worker), principal: { kind: 'worker', types: null } },
  { hash: hashKey(KEYS.wordsWorker), principal: { kind: 'worker', types: new Set(['words']) } },
];

const YAML = `
types:
  ocr: { cost: { from: data.pages, min: 1, max: 500, default: 1 }, schema: ocr.json, maxPayload: 2KB }
  chat: {}
  llm: { cost: { request: { min: 1, max: 100 }, default: 10 } }
tiers:
  pro: { rate: 5/s, burst: 1, depth: 1000, weight: 4 }
  free: { rate: 1/s, depth: 2, weight: 1, maxWait: 1h, allow: [chat] }
defaultTier: free
tenants:
  acme: { tier: pro }
  small: { tier: free, types: { chat: { maxBytes: 1KB } } }
`;

const OCR_SCHEMA = {
  type: 'object',
  properties: {
    pages: { type: 'integer', minimum: 0 },
    'odd name': { type: 'string' },
    language: {
      anyOf: [
        { type: 'string', minLength: 2 },
        { type: 'array', items: { type: 'string' } },
      ],
    },
    lines: { type: 'array', items: { type: 'object', required: ['text'] } },
  },
  additionalProperties: false,
};

let loaded: Promise<Config> | undefined;

/** The configuration of these tests, through the real loader, read once. */
export function testConfig(): Promise<Config> {
  loaded ??= configFrom(YAML, { 'ocr.json': JSON.stringify(OCR_SCHEMA) });
  return loaded;
}

/** The configuration that a text states, with the files that it speaks of. */
export async function configFrom(yaml: string, files: Readonly<Record<string, string>> = {}): Promise<Config> {
  const cwd = await mkdtemp(join(tmpdir(), 'hg-http-'));
  try {
    await writeFile(join(cwd, 'headgate.yaml'), yaml);
    for (const [name, text] of Object.entries(files)) await writeFile(join(cwd, name), text);
    return await loadConfig({ env: {}, cwd });
  } finally {
    await rm(cwd, { recursive: true });
  }
}
