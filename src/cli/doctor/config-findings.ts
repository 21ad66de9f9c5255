import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { missingVariables } from '../../config/built-in-handlers.js';
import type { Config, ConfigError } from '../../config/config.js';
import { configWarnings } from '../../config/config-warnings.js';
import { environment } from '../../config/environment.js';
import type { Finding } from './finding.js';

/** What is to be said of a configuration that could not be read. */
export function faultyConfig(error: ConfigError): Finding[] {
  return error.problems.map(({ path, message, line, column }) => {
    const place = line === undefined ? '' : `line ${line}:${column ?? 1} `;
    return {
      about: 'config',
      level: 'fault',
      says: `${place}${path}: ${message}`,
      mend: 'docs/configuration.md has every field',
    };
  });
}

/** What is to be said of a configuration, its handlers and its keys. */
export async function configFindings(config: Config): Promise<Finding[]> {
  const { file, types, tiers, tenants, policies } = config;
  const named = `types ${types.size}, tiers ${tiers.size}, tenants ${tenants.size}, policies ${policies.size}`;
  const warnings = configWarnings(config).map(({ message }) => message);
  return [
    { about: 'config', level: 'ok', says: `${file ?? 'the one that comes with Headgate'}: ${named}` },
    ...warnings.map((says): Finding => ({ about: 'config', level: 'warning', says })),
    ...(await handlerFindings(config)),
    ...missingVariables(config, environment().variables).map(
      (says): Finding => ({ about: 'handlers', level: 'warning', says }),
    ),
    ...(await keyFindings(config)),
  ];
}

async function handlerFindings({ types }: Config): Promise<Finding[]> {
  const findings = [...types.values()].map(async ({ name, handler }): Promise<Finding> => {
    const about = 'handlers';
    if (handler === null) {
      const mend = `set types.${name}.handler, unless workers elsewhere have one`;
      return { about, level: 'warning', says: `${name} has none: its jobs wait`, mend };
    }
    const found = await stat(handler).catch(() => undefined);
    if (found?.isFile()) return { about, level: 'ok', says: `${name}: ${handler}` };
    const says = `${name}: there is no file ${handler}`;
    return { about, level: 'fault', says, mend: `put it there, or correct types.${name}.handler` };
  });
  return Promise.all(findings);
}

async function keyFindings({ admin, tenants, listen, dataDir }: Config): Promise<Finding[]> {
  const about = 'keys';
  const own = [...tenants.values()].filter(({ keys }) => keys.length > 0).length;
  const isStated = admin.keys.length > 0 && own > 0;
  if (isStated) return [{ about, level: 'ok', says: `${admin.keys.length} of admins, and those of ${own} tenants` }];
  const missing = admin.keys.length === 0 ? 'no admin key' : 'no key of a tenant';
  const mend = 'state admin.keys (or HEADGATE_ADMIN_KEY), and a key for each tenant';
  if (!/^(localhost|::1|127\..*)$/.test(listen.host)) {
    return [
      { about, level: 'fault', says: `${missing} is stated, and ${listen.host} can be reached from elsewhere`, mend },
    ];
  }
  const file = join(dataDir, 'keys.json');
  const found = await stat(file).catch(() => undefined);
  if (found !== undefined && (found.mode & 0o077) !== 0) {
    return [{ about, level: 'fault', says: `${file} can be read by others`, mend: `chmod 600 ${file}` }];
  }
  return [{ about, level: 'ok', says: `${missing} is stated: the one of ${file} serves this machine` }];
}
