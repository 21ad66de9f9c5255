import { describe, expect, test } from 'vitest';
import { greeting } from '../../src/cli/greeting.js';

const KEYS = { file: '/data/keys.json', isNew: true, demoKey: 'hg_demo_x' };

function curl(first: Parameters<typeof greeting>[2], keys: Parameters<typeof greeting>[1] = KEYS): string | undefined {
  const lines = greeting('http://0.0.0.0:8080', keys, first).split('\n');
  return lines.find((line) => line.trim().startsWith('curl '))?.trim();
}

describe('the line to paste', () => {
  test('posts a job where there is a type', () => {
    const line = curl({ type: 'echo', policy: 'api' });
    expect(line).toMatch(/^curl -s http:\/\/127\.0\.0\.1:8080\/v1\/jobs /);
    expect(line).toContain(`-d '{"type":"echo","data":{"hello":"world"}}'`);
  });

  test('asks a policy where there are policies alone', () => {
    const line = curl({ type: undefined, policy: 'api' });
    expect(line).toMatch(/\/v1\/check -H 'Authorization: Bearer hg_demo_x' /);
    expect(line).toContain(`-d '{"policy":"api","key":"somebody"}'`);
  });

  test('names a tenant where the key is an admin’s', () => {
    const keys = { file: '/data/keys.json', isNew: false, adminKey: 'hg_admin_x' };
    expect(curl({ type: undefined, policy: 'api' }, keys)).toContain('"tenant":"demo"');
  });

  test('is absent where there is nothing to try', () => {
    expect(curl({ type: undefined, policy: undefined })).toBeUndefined();
  });
});
