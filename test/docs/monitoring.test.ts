import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { runCommand } from '../../src/redis/embedded/run-command.js';
import { METRICS, type MetricRow } from '../../src/telemetry/metric-table.js';
import { debianProgram } from '../support/debian-program.js';
import { asAsked, grafanaDashboard } from '../support/grafana-dashboard.js';

const docs = (name: string) => fileURLToPath(new URL(`../../docs/${name}`, import.meta.url));
const RULES = docs('prometheus/alerts.yml');
const RULE_TESTS = docs('prometheus/alerts.test.yml');
const rows: readonly MetricRow[] = Object.values(METRICS);

let promtool: string;
beforeAll(async () => {
  promtool = await debianProgram('promtool');
}, 180_000);

async function promtoolSays(...args: string[]): Promise<string> {
  const { status, stdout, stderr } = await runCommand(promtool, args, { timeoutMs: 60_000 });
  expect(status, `${stdout}${stderr}`).toBe(0);
  return stdout;
}

/** Every query of the dashboard, as Prometheus gets it. */
async function dashboardQueries(): Promise<string[]> {
  const { panels } = await grafanaDashboard();
  return panels.flatMap(({ targets = [] }) => targets.map((target) => asAsked(target, '5m')));
}

test('the alert rules are rules to Prometheus, and fire when they should', async () => {
  expect(await promtoolSays('check', 'rules', RULES)).toContain('10 rules found');
  await promtoolSays('test', 'rules', RULE_TESTS);
});

test('every query of the dashboard is one to Prometheus', async () => {
  const queries = await dashboardQueries();
  expect(queries.length).toBeGreaterThan(20);
  const folder = await mkdtemp(join(tmpdir(), 'hg-dashboard-'));
  try {
    const rules = queries.map((expr, i) => ({ record: `dashboard:query${i}`, expr }));
    const file = join(folder, 'queries.json');
    await writeFile(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
    await promtoolSays('check', 'rules', file);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('rules and dashboard speak of metrics that there are, with labels that they have', async () => {
  const texts = [await readFile(RULES, 'utf8'), ...(await dashboardQueries())];
  const used = texts.flatMap((text) => [...text.matchAll(/\b(headgate_[a-z_]+)(?:\{([^}]*)\})?/g)]);
  expect(used.length).toBeGreaterThan(40);
  for (const [, name = '', selector = ''] of used) {
    const row = rows.find((each) => each.name === name.replace(/_(bucket|count|sum)$/, '') || each.name === name);
    expect(row?.name, name).toBeDefined();
    if (row?.name !== name) expect(row?.kind, name).toBe('histogram');
    for (const [, label = ''] of selector.matchAll(/(\w+)=/g)) expect(row?.labels, name).toContain(label);
  }
});

test('the panels of the dashboard have ids and places of their own, and ask the data source that was chosen', async () => {
  const { panels } = await grafanaDashboard();
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const taken = new Map<string, string>();
  for (const { title, gridPos, type, datasource, targets = [] } of panels) {
    expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
        expect(taken.get(`${x} ${y}`), `${title} at ${x} ${y}`).toBeUndefined();
        taken.set(`${x} ${y}`, title);
      }
    }
    if (type === 'row') continue;
    expect(targets.length, title).toBeGreaterThan(0);
    expect(new Set(targets.map(({ refId }) => refId)).size, title).toBe(targets.length);
    for (const asked of [datasource, ...targets.map((target) => target.datasource)]) {
      expect(asked, title).toEqual({ type: 'prometheus', uid: `\${datasource}` });
    }
  }
});

test('the dashboard shows every metric but those that others say better', async () => {
  const text = (await dashboardQueries()).join('\n');
  const unseen = rows.map(({ name }) => name).filter((name) => !text.includes(name));
  expect(unseen.toSorted()).toEqual(
    [
      'headgate_type_buckets_backlogged',
      'headgate_type_buckets_unread',
      'headgate_runs_started_total',
      'headgate_jobs_running',
      'headgate_worker_silent_seconds',
    ].toSorted(),
  );
});
