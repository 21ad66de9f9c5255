import { expect, test } from 'vitest';
import { effectiveMode } from '../../src/config/effective-mode.js';
import { loadText } from './loading.js';

const TEXT = `
types: { ocr: { mode: police }, chat: {}, tts: { mode: shape } }
tiers: { none: {}, shaped: { mode: shape }, policed: { mode: police } }
defaultTier: none
tenants:
  plain: {}
  in-shaped: { tier: shaped }
  in-policed: { tier: policed }
  own: { tier: policed, mode: shape, types: { chat: { rate: 5/s } } }
  per-type: { tier: policed, mode: shape, types: { chat: { mode: police }, ocr: { mode: shape } } }
`;

test.each([
  ['the type', 'plain', 'ocr', 'police'],
  ['the type, by default', 'plain', 'chat', 'shape'],
  ['the type, for a tenant whom the file does not name', 'stranger', 'ocr', 'police'],
  ['the tier before the type', 'in-shaped', 'ocr', 'shape'],
  ['the tier before the type, the other way', 'in-policed', 'tts', 'police'],
  ['the tenant before the tier', 'own', 'ocr', 'shape'],
  ['the tenant before the tier, where it overrides other fields for the type', 'own', 'chat', 'shape'],
  ['the tenant for the type before all else', 'per-type', 'chat', 'police'],
  ['the tenant for the type before all else, the other way', 'per-type', 'ocr', 'shape'],
  ['the tenant, for a type that it does not speak of', 'per-type', 'tts', 'shape'],
  ['nobody: a type that is not there is shaped', 'plain', 'constructor', 'shape'],
])('what says the mode: %s', async (_who, tenant, type, mode) => {
  expect(effectiveMode(await loadText(TEXT), tenant, type)).toBe(mode);
});

test('the default tier speaks for tenants who name none', async () => {
  const config = await loadText('types: { x: {} }\ntiers: { strict: { mode: police } }\ndefaultTier: strict\n');
  expect(effectiveMode(config, 'anyone', 'x')).toBe('police');
});
