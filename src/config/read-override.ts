import Type from 'typebox';
import { isEntries } from './field.js';
import { expectedOf } from './field-text.js';
import { suggestName } from './nearest-name.js';
import { type OverrideValues, writtenFields } from './override-values.js';
import { formatPath, type Path } from './problem.js';
import { ProblemList } from './problem-list.js';
import { readField } from './read-fields.js';
import { YamlSource } from './yaml-source.js';

/** What a request asks of the overrides of one subject: a value per dotted name, `null` to clear it. */
export type OverrideChange = ReadonlyMap<string, string | null>;

/** Why a request was refused. `field` is empty for the body as a whole. */
export interface OverrideFault {
  readonly kind: 'unknown' | 'invalid';
  readonly field: string;
  readonly message: string;
}

/**
 * Reads a request for overrides: JSON with the fields of the file, read by the schema and the code that read the file, so
 * that both take the same and say the same. `null` clears a field, or all fields of what it stands for.
 *
 * @param held What is overridden now: which fields there are to clear.
 */
export function readOverride(
  schema: Type.TObject,
  body: unknown,
  held: OverrideValues,
): { readonly change: OverrideChange } | { readonly fault: OverrideFault } {
  const cleared: string[] = [];
  const stated = withoutNulls(schema, body, [], (path) => {
    const name = path.join('.');
    cleared.push(...namesUnder(schema, name), ...[...held.keys()].filter((each) => each.startsWith(`${name}.`)));
  });
  if ('fault' in stated) return stated;

  const source = new YamlSource(JSON.stringify(stated.value)); // JSON is YAML.
  const problems = new ProblemList();
  const [notYaml] = source.faults;
  if (notYaml !== undefined) return refused('invalid', [], notYaml.message);
  const context = { folder: '', variables: {} };
  const fields = readField(schema, source.root, [], { source, problems, context });
  const [problem] = problems.all();
  if (problem !== undefined) return { fault: { kind: 'invalid', field: problem.path, message: problem.message } };
  const change = new Map<string, string | null>(cleared.map((name) => [name, null]));
  for (const [name, text] of writtenFields(schema, fields)) change.set(name, text);
  return { change };
}

/** The fields that hold afterwards. `replace`: those that the change does not name are cleared. */
export function changedValues(held: OverrideValues, change: OverrideChange, replace: boolean): OverrideValues {
  const values = new Map<string, string>(replace ? [] : held);
  for (const [name, text] of change) {
    if (text === null) values.delete(name);
    else values.set(name, text);
  }
  return values;
}

/** The value without what is `null` in it, and without what that leaves empty; unknown names and wrong shapes are faults. */
function withoutNulls(
  schema: Type.TSchema,
  value: unknown,
  path: Path,
  clear: (path: Path) => void,
): { readonly value: unknown } | { readonly fault: OverrideFault } {
  const isMapping = isEntries(schema) || Type.IsObject(schema);
  if (!isMapping) return { value };
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const got = value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`;
    return refused('invalid', path, `expected ${expectedOf(schema)}; got ${got}`);
  }
  const kept: [string, unknown][] = [];
  for (const [name, each] of Object.entries(value)) {
    const place = [...path, name];
    const next = isEntries(schema) ? entrySchema(schema, name) : propertyOf(schema, name);
    if (next === undefined) {
      const known = Type.IsObject(schema) ? Object.keys(schema.properties) : [];
      const hint = isEntries(schema) ? (schema.nameFault(name) ?? '') : suggestName(name, known, 'fields here');
      return refused('unknown', place, isEntries(schema) ? hint : `unknown field; ${hint}`);
    }
    if (each === null) clear(place);
    else {
      const inner = withoutNulls(next, each, place, clear);
      if ('fault' in inner) return inner;
      kept.push([name, inner.value]);
    }
  }
  return { value: Object.fromEntries(kept) };
}

function entrySchema(schema: Type.TSchema, name: string): Type.TSchema | undefined {
  return isEntries(schema) && schema.nameFault(name) === undefined ? schema.entries : undefined;
}

function propertyOf(schema: Type.TSchema, name: string): Type.TSchema | undefined {
  return Type.IsObject(schema) && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
}

/** Names of single fields at or below a dotted name; of entries, which anybody may name, none. */
function namesUnder(schema: Type.TObject, name: string): string[] {
  let at: Type.TSchema | undefined = schema;
  for (const step of name.split('.')) at = at && (entrySchema(at, step) ?? propertyOf(at, step));
  if (at === undefined || isEntries(at)) return [];
  return Type.IsObject(at) ? Object.keys(at.properties).map((field) => `${name}.${field}`) : [name];
}

function refused(kind: OverrideFault['kind'], path: Path, message: string): { readonly fault: OverrideFault } {
  return { fault: { kind, field: formatPath(path), message } };
}
