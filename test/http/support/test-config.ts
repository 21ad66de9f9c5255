import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Config, loadConfig } from '../../../src/config/config.js';
import { effectiveProfile } from '../../../src/config/effective-profile.js';
import type { Settings } from '../../../src/shaping/settings.js';

export const KEYS = {
  admin: 'admin-key-0123456789',
  acme: 'acme-key-0123456789',
  small: 'small-key-0123456789',
} as const;

const YAML = `
admin: { keys: [${KEYS.admin}] }
types:
  ocr: { cost: { from: data.pages, min: 1, max: 500, default: 1 }, schema: ocr.json, maxPayload: 2KB }
  chat: {}
  llm: { cost: { request: { min: 1, max: 100 }, default: 10 } }
tiers:
  pro: { rate: 5/s, burst: 1, depth: 1000, weight: 4 }
  free: { rate: 1/s, depth: 2, weight: 1, maxWait: 1h, allow: [chat] }
defaultTier: free
tenants:
  acme: { tier: pro, key: ${KEYS.acme} }
  small: { tier: free, key: ${KEYS.small} }
`;

const OCR_SCHEMA = {
  type: 'object',
  properties: {
    pages: { type: 'integer', minimum: 0 },
    'odd name': { type: 'string' },
    lines: { type: 'array', items: { type: 'object', required: ['text'] } },
  },
  additionalProperties: false,
};

let loaded: Promise<Config> | undefined;

/** The configuration of these tests, through the real loader, read once. */
export function testConfig(): Promise<Config> {
  loaded ??= loadTestConfig();
  return loaded;
}

async function loadTestConfig(): Promise<Config> {
  const cwd = await mkdtemp(join(tmpdir(), 'hg-http-'));
  try {
    await writeFile(join(cwd, 'headgate.yaml'), YAML);
    await writeFile(join(cwd, 'ocr.json'), JSON.stringify(OCR_SCHEMA));
    return await loadConfig({ env: {}, cwd });
  } finally {
    await rm(cwd, { recursive: true });
  }
}

/** What shaping wants to know of a configuration. */
export function settingsOf(config: Config): Settings {
  return {
    type(name) {
      const type = config.types.get(name);
      if (type === undefined) return undefined;
      const { capacity, keepResults, attempts, slackUs } = type;
      return { capacity, keepResults, attempts, ...(slackUs === undefined ? {} : { slackUs }) };
    },
    typeNames: () => [...config.types.keys()],
    profile: (type, tenant) => effectiveProfile(config, type, tenant),
  };
}
