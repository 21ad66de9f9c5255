import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative } from 'node:path';
import { Check } from 'typebox/value';
import { buildConfig } from './build-config.js';
import type { Config } from './config.js';
import { ConfigFields } from './config-schema.js';
import { readDataSchema } from './data-schema.js';
import { environment } from './environment.js';
import type { TextContext } from './field.js';
import { findConfigFile } from './find-config-file.js';
import { type OutsideOptions, outsideSettings } from './outside-settings.js';
import { ConfigError } from './problem.js';
import { ProblemList } from './problem-list.js';
import { readFault } from './read-fault.js';
import { readField } from './read-fields.js';
import { redisOf } from './redis-relations.js';
import { checkRelations } from './relations.js';
import { YamlSource } from './yaml-source.js';

export interface LoadOptions extends OutsideOptions {
  /** The file that the command line names, from `cwd`. */
  readonly file?: string;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Reads and checks the configuration: the named file, else that of `HEADGATE_CONFIG`, else `headgate.yaml` in `cwd`, else
 * the one that comes with Headgate. The command line wins over the environment, and that over the file; but `REDIS_URL`
 * wins over `redis: embedded` only.
 *
 * @throws ConfigError with everything that is wrong, not only the first thing.
 */
export async function loadConfig(options: LoadOptions): Promise<Config> {
  const variables = environment(options.env);
  const found = findConfigFile(options.cwd, options.file ?? variables.configFile);
  const folder = dirname(found.path);
  const problems = new ProblemList();
  const fail = () => new ConfigError(shortPath(options.cwd, found.path), problems.all());

  const outside = outsideSettings(options, variables, problems);
  const text = await readText(found.path, problems);
  const fields = text === undefined ? undefined : readFields(text, { folder, variables: options.env }, problems);
  if (fields === undefined) throw fail();
  checkRelations(fields, outside.adminKeys, problems);
  const dataSchemas = await readDataSchemas(fields, problems);
  if (problems.all().length > 0) throw fail();

  const stated = redisOf(fields.redis);
  return buildConfig(fields, {
    file: found.packaged ? null : found.path,
    redis: outside.redis !== undefined && stated.kind === 'embedded' ? outside.redis : stated,
    listen: outside.listen ?? fields.listen,
    allowEviction: outside.allowEviction,
    dataDir: outside.dataDir ?? join(found.packaged ? options.cwd : folder, '.headgate'),
    shutdownGraceMs: outside.shutdownGraceMs ?? fields.shutdownGrace,
    adminKeys: [...new Set([...fields.admin.keys, ...outside.adminKeys])],
    dataSchemas,
  });
}

async function readText(file: string, problems: ProblemList): Promise<string | undefined> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(file);
  } catch (error) {
    problems.add([], readFault(file, error).fault);
    return undefined;
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    problems.add([], 'the file is not UTF-8 text');
    return undefined;
  }
}

function readFields(text: string, context: TextContext, problems: ProblemList): ConfigFields | undefined {
  const source = new YamlSource(text);
  for (const { message, ...position } of source.faults) problems.add([], message, position);
  if (source.faults.length > 0) return undefined;
  problems.locate([], source.position(source.root) ?? { line: 1, column: 1 });
  const fields = readField(ConfigFields, source.root, [], { source, problems, context });
  if (Check(ConfigFields, fields)) return fields;
  throw new Error('the configuration was read into something that its own schema refuses');
}

/** The JSON Schemas of payloads, by type. */
async function readDataSchemas({ types }: ConfigFields, problems: ProblemList): Promise<ReadonlyMap<string, object>> {
  const schemas = new Map<string, object>();
  for (const [name, { schema: file }] of types) {
    if (file === undefined) continue;
    const read = await readDataSchema(file);
    if ('schema' in read) schemas.set(name, read.schema);
    else problems.add(['types', name, 'schema'], read.fault);
  }
  return schemas;
}

/** As short as it can be said from `cwd`. */
function shortPath(cwd: string, file: string): string {
  const path = relative(cwd, file);
  return path.startsWith('..') || isAbsolute(path) ? file : path;
}
