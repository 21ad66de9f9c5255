import Type from 'typebox';
import { Check } from 'typebox/value';
import { stringify } from 'yaml';
import { policyConfig, routeConfig } from '../config/build-policy.js';
import { ConfigFields } from '../config/config-schema.js';
import { checkCost, checkRouteCosts } from '../config/door-relations.js';
import { environment } from '../config/environment.js';
import { name } from '../config/name-field.js';
import { suggestName } from '../config/nearest-name.js';
import type { PolicyConfig, RouteConfig } from '../config/policy-config.js';
import { checkPolicies } from '../config/policy-relations.js';
import { ConfigError, type Path } from '../config/problem.js';
import { ProblemList } from '../config/problem-list.js';
import { readField } from '../config/read-fields.js';
import type { RedisAddress } from '../config/redis-address.js';
import { checkRedis, redisOf } from '../config/redis-relations.js';
import { RedisFields } from '../config/redis-schema.js';
import { checkRoutes } from '../config/route-relations.js';
import { YamlSource } from '../config/yaml-source.js';

/** What the options say that is also said in a configuration file, read and found to agree. */
export interface PluginSettings {
  readonly policies: ReadonlyMap<string, PolicyConfig>;
  readonly routes: readonly RouteConfig[];
  /** The policy for what no route names. */
  readonly policy: string | undefined;
  readonly redis: RedisAddress | undefined;
}

/** The options whose words are those of the file, with the same schema and messages. */
const SettingsFields = Type.Object({
  redis: Type.Optional(RedisFields),
  policies: ConfigFields.properties.policies,
  routes: ConfigFields.properties.routes,
  policy: Type.Optional(name('The policy for all requests that no route names.')),
});
type SettingsFields = Type.Static<typeof SettingsFields>;

/** What each other option has to be. */
const OTHERS = {
  policing: ['an open Policing', (value: unknown) => typeof value === 'object' && value !== null && 'decide' in value],
  cost: ['a number or a function', (value: unknown) => typeof value === 'function' || isCost(value)],
  caller: ['a function', isFunction],
  skip: ['a function', isFunction],
  onRefused: ['a function', isFunction],
  logger: ['a logger', (value: unknown) => typeof value === 'object' && value !== null && 'warn' in value],
} as const;

/** Least and most that a call may cost. */
const COSTS = [1e-6, 1e9] as const;

/** Whether a call may cost this. */
export function isCost(value: unknown): value is number {
  return typeof value === 'number' && value >= COSTS[0] && value <= COSTS[1];
}

/**
 * Reads and checks the options of a plugin.
 *
 * @param has Whether the Policing of the options has a policy; without one, policies are those that the options state.
 * @param mustHold Whether options that hold no request to anything are refused.
 * @throws ConfigError with everything that is wrong, not only the first thing.
 */
export function readOptions(
  options: Readonly<Record<string, unknown>>,
  has: ((policy: string) => boolean) | undefined,
  mustHold = false,
): PluginSettings {
  const problems = new ProblemList();
  const fields = readFields(options, problems);
  checkOthers(options, problems);
  const redis = fields.redis && redisOf(fields.redis);
  if (fields.redis !== undefined) checkRedis(fields.redis, problems);
  checkSource(options, { ...fields, redis }, has !== undefined, problems);
  checkPolicies(fields.policies, problems);
  checkRoutes(fields.routes, problems);
  checkNames(fields, has, problems);
  checkRouteCosts(fields, problems);
  checkOwnCost(options.cost, fields, problems);
  if (mustHold && options.policy === undefined && fields.routes.length === 0 && problems.sound(['routes'])) {
    problems.add(['policy'], 'required, unless there are routes: nothing would be held to anything');
  }
  const all = problems.all();
  // Line and column of a text that nobody wrote help nobody.
  if (all.length > 0)
    throw new ConfigError(
      'headgate',
      all.map(({ path, message }) => ({ path, message })),
    );
  return {
    policies: new Map([...fields.policies].map(([policy, stated]) => [policy, policyConfig(policy, stated)])),
    routes: fields.routes.map(routeConfig),
    policy: fields.policy,
    redis,
  };
}

function readFields(options: Readonly<Record<string, unknown>>, problems: ProblemList): SettingsFields {
  const stated = Object.keys(SettingsFields.properties).map((field) => [field, options[field]]);
  const source = new YamlSource(stringify(Object.fromEntries(stated), { lineWidth: 0 }));
  const context = { folder: process.cwd(), variables: environment().variables };
  const fields = readField(SettingsFields, source.root, [], { source, problems, context });
  if (Check(SettingsFields, fields)) return fields;
  throw new Error('the options were read into something that their own schema refuses');
}

function checkOthers(options: Readonly<Record<string, unknown>>, problems: ProblemList): void {
  const names = [...Object.keys(SettingsFields.properties), ...Object.keys(OTHERS)];
  for (const option of Object.keys(options)) {
    if (!names.includes(option)) problems.add([option], `unknown option; ${suggestName(option, names, 'options')}`);
  }
  for (const [option, [expected, holds]] of Object.entries(OTHERS)) {
    const value = options[option];
    if (value !== undefined && !holds(value)) problems.add([option], `expected ${expected}`);
  }
}

/** Decisions come from one place, and it can be reached. */
function checkSource(
  options: Readonly<Record<string, unknown>>,
  { policies, redis }: Pick<PluginSettings, 'redis'> & Pick<SettingsFields, 'policies'>,
  isOpen: boolean,
  problems: ProblemList,
): void {
  if (isOpen) {
    for (const field of ['policies', 'redis'] as const)
      if (options[field] !== undefined) problems.add([field], `say policing or ${field}, not both`);
    return;
  }
  if (options.policies === undefined) {
    problems.add(['policies'], 'required, unless policing is there');
  } else if (policies.size === 0 && problems.sound(['policies'])) {
    problems.add(['policies'], 'expected at least one policy');
  }
  if (redis?.kind === 'embedded' && problems.sound(['redis'])) {
    problems.add(['redis'], 'a plugin has no embedded Redis; expected the address of one');
  }
  const remote = [...policies].find(([, { algorithm }]) => algorithm !== 'local')?.[0];
  if (redis === undefined && remote !== undefined && problems.sound(['redis'])) {
    problems.add(['redis'], `required; only policies with algorithm local do without it, and ${remote} is not`);
  }
}

/** Names of policies stand for something that exists. */
function checkNames(
  { policies, routes, policy }: SettingsFields,
  has: ((policy: string) => boolean) | undefined,
  problems: ProblemList,
): void {
  if (!problems.sound(['policies']) || !problems.sound(['policing'])) return;
  const names = [...policies.keys()];
  const check = (path: Path, named: string) => {
    if (!problems.sound(path) || (has === undefined ? policies.has(named) : has(named))) return;
    const hint = has === undefined ? `; ${suggestName(named, names, 'policies')}` : '';
    problems.add(path, `there is no policy "${named}"${hint}`);
  };
  if (policy !== undefined) check(['policy'], policy);
  for (const [index, route] of routes.entries()) check(['routes', index, 'policy'], route.policy);
}

/** A cost that is the same for all requests can pass. */
function checkOwnCost(cost: unknown, { policies, policy }: SettingsFields, problems: ProblemList): void {
  if (isCost(cost)) checkCost({ policy, cost, path: ['cost'], what: 'costs' }, policies, problems);
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function';
}
