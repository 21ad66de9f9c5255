import { cp, mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/load-config.js';
import { runCommand } from '../../src/redis/embedded/run-command.js';
import { debianProgram } from '../support/debian-program.js';
import { COMPOSE_TEXT, mountsOf, readCompose } from './support/compose.js';
import { PROJECT } from './support/dockerfile.js';
import { AFTER_GRACE_MS, durationMs } from './support/grace.js';

const SECRETS = {
  HEADGATE_ADMIN_KEY: 'admin-admin-admin-admin',
  HEADGATE_ACME_KEY: 'acme-acme-acme-acme',
  GRAFANA_PASSWORD: 'secret',
};
const { services, networks, volumes } = readCompose(SECRETS);
const named = Object.entries(services);
const project = (name: string) => readFile(join(PROJECT, name), 'utf8');

test('no secret stands in the compose file: each has to be set, and .env.example names it', async () => {
  for (const name of Object.keys(SECRETS)) {
    expect(() => readCompose({ ...SECRETS, [name]: '' }), name).toThrow(`${name}: set it`);
  }
  const bare = COMPOSE_TEXT.split('\n').filter((line) =>
    /^\s*\w*(KEY|PASSWORD|SECRET|TOKEN)\w*:(?! \$\{\w+:\?)/.test(line),
  );
  expect(bare).toEqual([]);
  const example = [...(await project('.env.example')).matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [
    name,
    value,
  ]);
  expect(example).toEqual(Object.keys(SECRETS).map((name) => [name, '']));
  expect((await project('.gitignore')).split('\n')).toContain('.env');
});

test('what is mounted is there and cannot be written, and what is used is declared', async () => {
  const mounts = named.flatMap(([, service]) => mountsOf(service));
  expect(mounts.length).toBeGreaterThan(7);
  for (const { source, readOnly } of mounts) {
    expect((await stat(source)).isFile(), source).toBe(true);
    expect(readOnly, source).toBe(true);
  }
  const kept = named.flatMap(([, service]) => (service.volumes ?? []).filter((volume) => !volume.startsWith('.')));
  expect(kept.map((volume) => volume.split(':')[0]).toSorted()).toEqual(Object.keys(volumes).toSorted());
  expect(new Set(named.flatMap(([, service]) => service.networks ?? []))).toEqual(new Set(Object.keys(networks)));
});

test('only what people look at is reached from outside, on loopback; Redis by Headgate alone', () => {
  const published = named.flatMap(([name, { ports = [] }]) =>
    ports.map((port) => [name, port.replace(/:\d+:/, ':…:')]),
  );
  expect(published).toEqual([
    ['nginx', '127.0.0.1:…:8080'],
    ['prometheus', '127.0.0.1:…:9090'],
    ['grafana', '127.0.0.1:…:3000'],
  ]);
  expect(networks.store).toEqual({ internal: true });
  expect(named.filter(([, service]) => service.networks?.includes('store')).map(([name]) => name)).toEqual([
    'redis',
    'api',
    'worker',
  ]);
});

test('two processes of each role, which cannot write and have the time to leave in order', async () => {
  const { shutdownGraceMs } = await loadConfig({
    file: 'docker/headgate.yaml',
    cwd: PROJECT,
    env: { ...SECRETS, REDIS_URL: 'redis://redis:6379' },
  });
  for (const name of ['api', 'worker']) {
    const service = services[name];
    expect(service).toMatchObject({ deploy: { replicas: 2 }, read_only: true, tmpfs: ['/tmp'] });
    expect(durationMs(service?.stop_grace_period ?? '')).toBeGreaterThanOrEqual(shutdownGraceMs + AFTER_GRACE_MS);
  }
});

test('Prometheus takes its configuration, and asks the processes where they answer', async () => {
  const promtool = await debianProgram('promtool');
  const folder = await mkdtemp(join(tmpdir(), 'hg-prometheus-'));
  try {
    for (const { source, target } of mountsOf(services.prometheus ?? { image: '' })) {
      await mkdir(join(folder, dirname(target)), { recursive: true });
      await cp(source, join(folder, target));
    }
    const file = join(folder, 'etc/prometheus/prometheus.yml');
    const { status, stdout, stderr } = await runCommand(promtool, ['check', 'config', file], { timeoutMs: 60_000 });
    expect(status, `${stdout}${stderr}`).toBe(0);
    expect(stdout).toContain('10 rules found');
  } finally {
    await rm(folder, { recursive: true });
  }
  const { scrape_configs: jobs }: { scrape_configs: { dns_sd_configs: object[] }[] } = parse(
    await project('docker/prometheus.yml'),
  );
  expect(jobs.flatMap(({ dns_sd_configs: found }) => found)).toMatchObject([
    { names: ['api'], port: 8080 },
    { names: ['worker'], port: 8080 },
  ]);
  expect(services.worker?.command?.join(' ')).toBe('work --health-listen 0.0.0.0:8080');
  expect(await project('docker/headgate.yaml')).toMatch(/^listen: 0\.0\.0\.0:8080 /m);
});

test('Grafana finds Prometheus by its name and the dashboard where it is mounted', async () => {
  const { datasources }: { datasources: object[] } = parse(await project('docker/grafana/datasource.yml'));
  expect(datasources).toMatchObject([{ type: 'prometheus', url: 'http://prometheus:9090', isDefault: true }]);
  const { providers }: { providers: { options: { path: string } }[] } = parse(
    await project('docker/grafana/dashboards.yml'),
  );
  const mounted = mountsOf(services.grafana ?? { image: '' }).map(({ target }) => target);
  expect(mounted).toContain(`${providers[0]?.options.path}/headgate.json`);
  expect(mounted.filter((target) => target.startsWith('/etc/grafana/provisioning/')).map(dirname)).toEqual([
    '/etc/grafana/provisioning/datasources',
    '/etc/grafana/provisioning/dashboards',
  ]);
});
