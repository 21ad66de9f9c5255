import { expect, test } from 'vitest';
import { runChaos } from '../chaos/run-chaos.js';

/** Long enough for a handful of blows; `npm run chaos` goes on for minutes. */
const SECONDS = 25;

test('a short run of chaos ends with nothing lost and nothing broken', { timeout: 300_000 }, async () => {
  const said: string[] = [];
  const order = { seed: 20, seconds: SECONDS, durability: 'everysec', cut: false } as const;
  const summary = await runChaos(order, (line) => said.push(line));
  expect(summary.faults, said.join('\n')).toEqual([]);
  expect(summary).toMatchObject({ passed: true, zeros: { lost: 0, violations: 0 } });
  expect(Object.keys(summary.blows).length).toBeGreaterThanOrEqual(2);
});
