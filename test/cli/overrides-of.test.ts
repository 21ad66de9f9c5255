import { expect, test } from 'vitest';
import { overridesOf } from '../../src/cli/commands/tenants.js';

test.each<[string[], unknown]>([
  [['tier=pro', 'depth=50', 'burst=null'], { tier: 'pro', depth: 50, burst: null }],
  [['ocr.rate=2/s', 'ocr.depth=5'], { types: { ocr: { rate: '2/s', depth: 5 } } }],
  [
    ['webhook.url=https://hooks.example/?a=b', 'webhook.events=failed,expired', 'webhook.secret=null'],
    { webhook: { url: 'https://hooks.example/?a=b', events: ['failed', 'expired'], secret: null } },
  ],
  // A type may have that name.
  [['webhook.rate=2/s', 'webhook.url=null'], { webhook: { url: null }, types: { webhook: { rate: '2/s' } } }],
])('%j states %j', (fields, body) => {
  expect(overridesOf(fields)).toEqual(body);
});

test('what is no field=value is told', () => {
  expect(() => overridesOf(['rate'])).toThrow('expected field=value');
});
