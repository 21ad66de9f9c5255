import Type from 'typebox';
import { ConfigFields, TenantFields, TierFields } from './config-schema.js';
import { isChoice, isEntries, isFlag, isFree, isQuantity, isText } from './field.js';
import { exceptions, formatBound } from './field-text.js';
import { LimitFields, PolicyFields } from './policy-schema.js';
import { StatedProfile } from './profile-schema.js';
import { formatQuantity, type Unit } from './quantity.js';
import { RedisClusterFields, RedisSentinelFields, RedisServerFields } from './redis-schema.js';
import { RouteFields } from './route-schema.js';
import { CostRuleFields, TypeFields } from './type-schema.js';

/** One field of the configuration, as the documentation shows it. */
export interface FieldRow {
  readonly name: string;
  readonly value: string;
  readonly default: string;
  readonly range: string;
  readonly meaning: string;
}

/**
 * The fields of each section, in the order of the schema. Profile fields stand once, not again with tiers and tenants;
 * so do the fields of a limit.
 */
export function fieldSections(): ReadonlyMap<string, readonly FieldRow[]> {
  const profile = rowsOf(StatedProfile, '');
  const limit = rowsOf(LimitFields, '');
  const besides = (shared: readonly FieldRow[], fields: Type.TObject) =>
    rowsOf(fields, '').filter(({ name }) => !shared.some((row) => row.name === name));
  const access = rowsOf(RedisServerFields, '').filter(({ name }) => name !== 'url');
  const [, fieldForm, requestForm] = CostRuleFields.anyOf;
  return new Map([
    ['file', rowsOf(ConfigFields, '')],
    ['redisServer', besides(access, RedisServerFields)],
    ['redisSentinel', besides(access, RedisSentinelFields)],
    ['redisCluster', besides(access, RedisClusterFields)],
    ['redisAccess', access],
    ['types', rowsOf(TypeFields, '')],
    ['costField', rowsOf(fieldForm, '')],
    ['costRequest', rowsOf(requestForm, '')],
    ['profile', profile],
    ['tiers', besides(profile, TierFields)],
    ['tenants', besides(profile, TenantFields)],
    ['limit', limit],
    ['policies', besides(limit, PolicyFields)],
    ['routes', rowsOf(RouteFields, '')],
  ]);
}

/** Puts the tables of the schema between `<!-- fields: SECTION -->` and `<!-- end -->`, in place of what is there. */
export function fillTables(markdown: string): string {
  const sections = fieldSections();
  return markdown.replace(/(<!-- fields: (\w+) -->\n)[\s\S]*?(<!-- end -->)/g, (_all, start, name, end) => {
    const rows = sections.get(String(name));
    if (rows === undefined) throw new Error(`there is no section "${name}"; the sections are ${[...sections.keys()]}`);
    return `${start}\n${table(rows)}\n\n${end}`;
  });
}

function table(rows: readonly FieldRow[]): string {
  const cells = rows.map((row) => [`\`${row.name}\``, row.value, row.default, row.range, row.meaning]);
  return [['Field', 'Value', 'Default', 'Range', 'Meaning'], ['---', '---', '---', '---', '---'], ...cells]
    .map((line) => `| ${line.join(' | ')} |`)
    .join('\n');
}

function rowsOf(schema: Type.TObject, prefix: string): FieldRow[] {
  return Object.entries(schema.properties).flatMap(([name, property]) =>
    Type.IsObject(property) ? rowsOf(property, `${prefix}${name}.`) : [rowOf(`${prefix}${name}`, property)],
  );
}

function rowOf(name: string, schema: Type.TSchema): FieldRow {
  const meaning = 'description' in schema && typeof schema.description === 'string' ? schema.description : '';
  return { name, value: kindOf(schema), default: defaultOf(schema), range: rangeOf(schema), meaning };
}

const VALUE: Record<Unit, string> = {
  rate: 'rate',
  duration: 'duration',
  size: 'size',
  count: 'whole number',
  number: 'number',
};

function kindOf(schema: Type.TSchema): string {
  if (isQuantity(schema)) return VALUE[schema.unit];
  if (isChoice(schema)) return 'word';
  if (isFlag(schema)) return '`true` or `false`';
  if (isText(schema)) return schema.written;
  if (isEntries(schema)) return 'mapping by name';
  if (isFree(schema)) return 'mapping';
  if (Type.IsArray(schema)) return `list of: ${kindOf(schema.items)}`;
  if (Type.IsObject(schema)) return 'mapping';
  return 'written' in schema && typeof schema.written === 'string' ? schema.written : 'something else';
}

function defaultOf(schema: Type.TSchema): string {
  const stated = 'default' in schema ? schema.default : undefined;
  if ('defaultText' in schema && schema.defaultText !== undefined) return `\`${schema.defaultText}\``;
  if (isQuantity(schema) && schema.default !== undefined) return `\`${formatQuantity(schema.unit, schema.default)}\``;
  if (['string', 'number', 'boolean'].includes(typeof stated)) return `\`${stated}\``;
  if (Array.isArray(stated)) return '`[]`';
  if (Type.IsOptional(schema)) return 'none';
  return isFree(schema) || (isEntries(schema) && !schema.mandatory) ? '`{}`' : 'required';
}

function rangeOf(schema: Type.TSchema): string {
  if (isChoice(schema)) return schema.choices.map((word) => `\`${word}\``).join(', ');
  if (!isQuantity(schema)) return '';
  const bounds = [schema.least, schema.most].map((bound) => `\`${formatBound(schema, bound)}\``).join(' to ');
  return [bounds, ...exceptions(schema).map((exception) => exception.replace(/^\w+/, '`$&`'))].join(', ');
}
