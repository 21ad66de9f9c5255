import { HeadgateError } from '../../client/index.js';
import { type Config, ConfigError, type MemoryLimits } from '../../config/config.js';
import { environment } from '../../config/environment.js';
import { type LoadOptions, loadConfig } from '../../config/load-config.js';
import { serverOnPath } from '../../redis/embedded/server-program.js';
import { inspectMasters } from '../../redis/inspect-masters.js';
import { embeddedTarget, type Inspection, inspectRedis } from '../../redis/inspect-redis.js';
import type { RedisFault } from '../../redis/redis-fault.js';
import { type ClusterTarget, type RedisTarget, targetOf } from '../../redis/redis-target.js';
import { faultOfRights } from '../../redis/refuse-unusable.js';
import type { Remote } from '../remote.js';
import { configFindings, faultyConfig } from './config-findings.js';
import { dataFindings } from './data-findings.js';
import type { Finding } from './finding.js';
import { redisFindings } from './redis-findings.js';

/** How long Redis may take to answer, in milliseconds. */
const WITHIN_MS = 3000;
const OLDEST_NODE = { major: 20, minor: 19 };

/** Looks at everything that Headgate needs. Changes nothing and starts nothing. */
export async function examine(load: Omit<LoadOptions, 'env' | 'cwd'>, remote: Remote | undefined): Promise<Finding[]> {
  const findings = [nodeFinding(process.versions.node)];
  try {
    const config = await loadConfig({ env: environment().variables, cwd: process.cwd(), ...load });
    findings.push(...(await configFindings(config)), ...(await examineRedis(config)));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    findings.push(...faultyConfig(error));
  }
  if (remote !== undefined) findings.push(await examineApi(remote));
  return findings;
}

function nodeFinding(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isOld = major < OLDEST_NODE.major || (major === OLDEST_NODE.major && minor < OLDEST_NODE.minor);
  if (!isOld) return { about: 'node', level: 'ok', says: version };
  return { about: 'node', level: 'fault', says: `${version} is too old`, mend: 'install Node 20.19 or later' };
}

async function examineRedis(config: Config): Promise<Finding[]> {
  const { redis, dataDir, memory } = config;
  if (redis.kind === 'embedded') {
    const target = await embeddedTarget(dataDir);
    const found = target === undefined ? undefined : await inspectRedis(target, WITHIN_MS);
    if (target === undefined || found === undefined || !('facts' in found)) return [await embeddedFinding()];
    return [...redisFindings(found.facts, memory), ...(await dataFindings(config, target, WITHIN_MS))];
  }
  const target = targetOf(redis);
  const all = await inspectMasters(target, WITHIN_MS);
  const said = all.flatMap((found) => {
    const findings = findingsOf(found, target, memory);
    const { server } = found;
    return server === undefined ? findings : findings.map((each) => ({ ...each, says: `${server}: ${each.says}` }));
  });
  const isUsable = all.every((found) => 'facts' in found && !faultOfRights(found.facts.missing, target));
  return isUsable ? [...said, ...(await dataFindings(config, target, WITHIN_MS))] : said;
}

function findingsOf(found: Inspection, target: RedisTarget | ClusterTarget, memory: MemoryLimits): Finding[] {
  if ('fault' in found) return [findingOf(found.fault)];
  const rights = faultOfRights(found.facts.missing, target);
  return [...redisFindings(found.facts, memory), ...(rights ? [findingOf(rights)] : [])];
}

function findingOf({ field, says, mend }: RedisFault): Finding {
  return { about: 'redis', level: 'fault', says: `${field}: ${says}`, mend };
}

/** An embedded Redis that does not run is started by whoever needs it, if it can be. */
async function embeddedFinding(): Promise<Finding> {
  const about = 'redis';
  const program = await serverOnPath(environment().path ?? '');
  if (program !== undefined) {
    const says = `embedded, not running; the next start brings up ${program.file} ${program.version}`;
    return { about, level: 'ok', says };
  }
  const says = 'embedded, not running, and there is no redis-server or valkey-server on PATH';
  return { about, level: 'warning', says, mend: 'install one; on Debian and Ubuntu the next start fetches one' };
}

async function examineApi({ client }: Remote): Promise<Finding> {
  const about = 'api';
  try {
    const { status, checks } = await client.request<{ status: string; checks: Record<string, string> }>(
      { method: 'GET', path: '/readyz' },
      { deadlineMs: WITHIN_MS },
    );
    await client.request({ method: 'GET', path: '/v1/types', query: {} }, { deadlineMs: WITHIN_MS }).catch(tolerate);
    const details = Object.entries(checks).map(([name, finding]) => `${name} ${finding}`);
    return { about, level: status === 'ready' ? 'ok' : 'warning', says: `${status}: ${details.join('; ')}` };
  } catch (error) {
    if (!(error instanceof HeadgateError)) throw error;
    const { code, message } = error;
    return { about, level: 'fault', says: `${code}: ${message}`, mend: MENDS[code] ?? 'look into its log' };
  }
}

/** An admin's key names no tenant here; that it is a key is all that is asked. */
function tolerate(error: unknown): void {
  if (!(error instanceof HeadgateError) || error.status !== 400) throw error;
}

const MENDS: Readonly<Record<string, string>> = {
  network_error: 'start it with `headgate start`, or correct --url',
  deadline_exceeded: 'it may be overloaded or another program: look at --url and its log',
  unexpected_answer: 'something else answers there: correct --url',
  invalid_key:
    'correct --key (or HEADGATE_KEY); keys that were made at the first start stand in keys.json of the data folder',
};
