import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Config, ConfigError } from '../../src/config/config.js';
import { type LoadOptions, loadConfig } from '../../src/config/load-config.js';

/** A fresh folder with the given files; gone when the test is. */
export async function folderWith(files: Record<string, string | Uint8Array>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hg-config-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  return folder;
}

/** The configuration that `text` comes to, as the `headgate.yaml` of an empty folder. */
export async function loadText(text: string, options: Partial<LoadOptions> = {}): Promise<Config> {
  const cwd = await folderWith({ 'headgate.yaml': text });
  return loadConfig({ env: {}, cwd, ...options });
}

/** Every problem of `text`, each as `LINE:COLUMN PATH: MESSAGE`; empty when there is none. */
export async function problemsOf(text: string | Uint8Array, options: Partial<LoadOptions> = {}): Promise<string[]> {
  const cwd = await folderWith({ 'headgate.yaml': typeof text === 'string' ? text : new Uint8Array(text) });
  return problemsOfLoading({ env: {}, cwd, ...options });
}

export async function problemsOfLoading(options: LoadOptions): Promise<string[]> {
  const error = await loadConfig(options).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (error === undefined) return [];
  if (!(error instanceof ConfigError)) throw error;
  return error.problems.map(({ path, message, line, column }) => {
    const place = line === undefined ? '' : `${line}:${column} `;
    return `${place}${path}: ${message.replaceAll(options.cwd, '.')}`;
  });
}
