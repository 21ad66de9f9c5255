import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommand } from '../../src/redis/embedded/run-command.js';
import { debianProgram } from '../support/debian-program.js';
import { scaledObjects } from './support/manifests.js';

let promtool: string;
let folder: string;
beforeAll(async () => {
  promtool = await debianProgram('promtool');
  folder = await mkdtemp(join(tmpdir(), 'hg-scaling-'));
  const rules = (scaledObjects[0]?.spec.triggers ?? []).map(({ name = '', metadata }) => ({
    record: `scaling:${name}`,
    expr: metadata.query,
  }));
  await writeFile(join(folder, 'rules.yml'), JSON.stringify({ groups: [{ name: 'scaling', rules }] }));
}, 180_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What Prometheus makes of the triggers' queries, five minutes into these series. */
async function expectScaling(series: Readonly<Record<string, string>>, expected: Readonly<Record<string, number>>) {
  const file = join(folder, 'test.yml');
  const promqlTests = Object.entries(expected).map(([name, value]) => ({
    expr: `scaling:${name}`,
    eval_time: '5m',
    exp_samples: [{ labels: `scaling:${name}`, value }],
  }));
  const input = Object.entries(series).map(([name, values]) => ({ series: name, values }));
  const tests = [{ interval: '15s', input_series: input, promql_expr_test: promqlTests }];
  await writeFile(file, JSON.stringify({ rule_files: ['rules.yml'], evaluation_interval: '15s', tests }));
  const { status, stdout, stderr } = await runCommand(promtool, ['test', 'rules', file], { timeoutMs: 60_000 });
  expect(status, `${stdout}${stderr}`).toBe(0);
}

const type = (name: string, value: number) =>
  Object.fromEntries(
    // Every API process shows the same.
    ['a', 'b'].map((instance) => [`headgate_type_${name}{type="echo",instance="${instance}"}`, `${value}x40`]),
  );
/** Starts, so many a scrape, that are all late by more than `above` and at most `upTo` seconds. */
function lateStarts(above: string, upTo: string, each: number): Record<string, string> {
  const line = (le: string, perScrape: number) => [
    `headgate_start_slip_seconds_bucket{type="echo",basis="rate",le="${le}"}`,
    `0+${perScrape}x40`,
  ];
  return Object.fromEntries([line(above, 0), line(upTo, each), line('+Inf', each)]);
}

test('what runs and what may start wants slots; what waits for its rate does not', async () => {
  const waiting = { 'headgate_jobs_waiting{type="echo",tenant="acme",instance="a"}': '9000x40' };
  await expectScaling(
    { ...type('jobs_running', 20), ...type('buckets_ready', 7), ...waiting },
    { wanted: 27, slip: 0 },
  );
});

test('starts that are later than promised want more, on-time ones and none at all nothing', async () => {
  const quiet = { ...type('jobs_running', 0), ...type('buckets_ready', 0) };
  await expectScaling(quiet, { wanted: 0, slip: 0 });
  await expectScaling({ ...quiet, ...lateStarts('1', '10', 6) }, { slip: 9.1 });
  await expectScaling({ ...quiet, ...lateStarts('-0.01', '0', 6) }, { slip: 0 });
});

test('a type that no API knows of yet gives no number, and the count stays as it is', async () => {
  await expect(expectScaling({}, { wanted: 0 })).rejects.toThrow('nil');
});
