import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '../system/support/free-port.js';
import { debianProgram } from './debian-program.js';

/** A series as a query finds it, and its value: NaN where there is nothing to show. */
export interface Found {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A real Prometheus that scrapes once a second. */
export interface PrometheusServer {
  /** What an expression comes to now. */
  query(expr: string): Promise<readonly Found[]>;
  /** The values of a label among the series of a metric. */
  labelValues(metric: string, label: string): Promise<readonly string[]>;
  stop(): Promise<void>;
}

/** Starts one that scrapes these addresses, `host:port`, with a key where one is asked for. */
export async function startPrometheus(
  jobs: Readonly<Record<string, { readonly target: string; readonly key?: string }>>,
): Promise<PrometheusServer> {
  // The server comes in the package of promtool, beside it.
  const program = join(dirname(await debianProgram('promtool')), 'prometheus');
  const folder = await mkdtemp(join(tmpdir(), 'hg-prometheus-'));
  const scrape_configs = Object.entries(jobs).map(([job_name, { target, key }]) => ({
    job_name,
    static_configs: [{ targets: [target] }],
    ...(key !== undefined && { authorization: { credentials: key } }),
  }));
  // JSON is YAML.
  const file = join(folder, 'prometheus.yml');
  await writeFile(file, JSON.stringify({ global: { scrape_interval: '1s', scrape_timeout: '1s' }, scrape_configs }));
  const address = `127.0.0.1:${await freePort()}`;
  const flags = [`--config.file=${file}`, `--storage.tsdb.path=${join(folder, 'data')}`];
  const child = spawn(program, [...flags, `--web.listen-address=${address}`], { stdio: ['ignore', 'ignore', 'pipe'] });
  const lines: string[] = [];
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`Prometheus ended:\n${lines.slice(-20).join('\n')}`)));
    createInterface({ input: child.stderr }).on('line', (line) => {
      lines.push(line);
      if (line.includes('Server is ready')) resolve();
    });
  });

  const get = async (path: string, query: Readonly<Record<string, string>>) => {
    const answer = await fetch(`http://${address}/api/v1/${path}?${new URLSearchParams(query)}`);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`Prometheus answered ${answer.status} to ${JSON.stringify(query)}: ${text}`);
    return JSON.parse(text).data;
  };
  return {
    async query(expr) {
      const { result }: { result: { metric: Record<string, string>; value: [number, string] }[] } = await get('query', {
        query: expr,
      });
      return result.map(({ metric, value: [, value] }) => ({ labels: metric, value: Number(value) }));
    },
    labelValues: (metric, label) => get(`label/${label}/values`, { 'match[]': metric }),
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        const ended = once(child, 'exit');
        child.kill('SIGKILL');
        await ended;
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}
