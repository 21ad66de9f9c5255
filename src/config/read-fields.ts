import Type from 'typebox';
import { type EntriesField, isEntries, isFlag, isFree, isQuantity, isText } from './field.js';
import { expectedOf } from './field-text.js';
import { suggestName } from './nearest-name.js';
import type { Path } from './problem.js';
import { readFreeObject } from './read-free-object.js';
import { flagOf, readScalar } from './read-scalar.js';
import type { Reading } from './reading.js';
import { REQUIRED, standIn, unstated } from './unstated.js';
import { describeWritten, type Entry, type Written } from './yaml-source.js';

/**
 * Reads what stands at `node` as `schema` says, and adds every problem to the list.
 *
 * In place of a broken value comes its default, or nothing where it may be absent, so that one mistake does not hide
 * the others; who relates fields to each other asks first whether they are sound.
 */
export function readField(schema: Type.TSchema, node: unknown, path: Path, reading: Reading): unknown {
  const written = reading.source.written(node);
  if (isEntries(schema)) return readEntries(schema, written, path, reading);
  if (isFree(schema)) return readFreeObject(written, path, reading);
  if (Type.IsArray(schema)) return readList(schema, written, path, reading);
  if (Type.IsObject(schema)) return readObject(schema, written, path, reading);
  if (Type.IsUnion(schema)) return readAlternative(schema, node, path, reading);
  return readScalar(schema, written, path, reading);
}

function readObject(schema: Type.TObject, written: Written, path: Path, reading: Reading): unknown {
  if (written.kind !== 'mapping') return wrongShape(schema, written, path, reading);
  const { problems } = reading;
  const known = Object.keys(schema.properties);
  const stated = new Map<string, Entry>();
  for (const entry of namedEntries(written, path, reading)) {
    if (known.includes(entry.name)) stated.set(entry.name, entry);
    else {
      const suggestion = suggestName(entry.name, known, 'fields here');
      problems.add([...path, entry.name], `unknown field; ${suggestion}`, reading.source.position(entry.key));
    }
  }

  const object: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(schema.properties)) {
    const entry = stated.get(name);
    let value = entry === undefined ? unstated(property) : readField(property, entry.value, [...path, name], reading);
    if (value === REQUIRED) {
      problems.add([...path, name], `required; expected ${expectedOf(property)}`);
      value = standIn(property);
    }
    if (value !== undefined) object[name] = value;
  }
  return object;
}

function readEntries(schema: EntriesField, written: Written, path: Path, reading: Reading): unknown {
  if (written.kind !== 'mapping') return wrongShape(schema, written, path, reading);
  const entries = new Map<string, unknown>();
  for (const { name, key, value } of namedEntries(written, path, reading)) {
    const place = [...path, name];
    const fault = schema.nameFault(name);
    if (fault !== undefined) reading.problems.add(place, fault, reading.source.position(key));
    entries.set(name, readField(schema.entries, value, place, reading));
  }
  return entries;
}

function readList(schema: Type.TArray, written: Written, path: Path, reading: Reading): unknown {
  if (written.kind !== 'list') return wrongShape(schema, written, path, reading);
  return written.list.items.map((node, index) => {
    const place = [...path, index];
    reading.problems.locate(place, reading.source.position(node));
    return readField(schema.items, node, place, reading);
  });
}

/** Of several forms the one that was meant: one for what is written, else the object whose fields are most alike. */
function readAlternative(schema: Type.TUnion, node: unknown, path: Path, reading: Reading): unknown {
  const written = reading.source.written(node);
  const form =
    written.kind === 'mapping'
      ? mostAlike(schema, written, reading)
      : schema.anyOf.find((each) => isFormFor(each, written));
  if (form === undefined) return wrongShape(schema, written, path, reading);
  return readField(form, node, path, reading);
}

function isFormFor(form: Type.TSchema, written: Written): boolean {
  switch (written.kind) {
    case 'number':
      return isQuantity(form);
    case 'text':
      return isText(form);
    case 'boolean':
      return isFlag(form) && (form.only === undefined || form.only === flagOf(written.text));
    case 'list':
      return Type.IsArray(form);
    default:
      return false;
  }
}

function mostAlike(schema: Type.TUnion, { mapping }: Written & { kind: 'mapping' }, { source }: Reading) {
  const names = source.entries(mapping).map(({ name }) => name);
  const alike = (object: Type.TObject) => Object.keys(object.properties).filter((name) => names.includes(name)).length;
  return schema.anyOf.filter(Type.IsObject).toSorted((a, b) => alike(b) - alike(a))[0];
}

/** The entries that have a name, each once; a doubled or nameless one is a problem. */
function* namedEntries(
  written: Written & { kind: 'mapping' },
  path: Path,
  { source, problems }: Reading,
): Iterable<Entry> {
  const first = new Map<string, number | undefined>();
  for (const entry of source.entries(written.mapping)) {
    const position = source.position(entry.key);
    if (entry.name === undefined) {
      problems.add(path, 'expected a name before the colon', position);
    } else if (first.has(entry.name)) {
      problems.add([...path, entry.name], `stands here twice; first on line ${first.get(entry.name)}`, position);
    } else {
      first.set(entry.name, position?.line);
      const isWritten = source.written(entry.value).kind !== 'nothing';
      problems.locate([...path, entry.name], isWritten ? source.position(entry.value) : position);
      yield entry;
    }
  }
}

function wrongShape(schema: Type.TSchema, written: Written, path: Path, { problems }: Reading): unknown {
  const isSecret = Type.IsUnion(schema) && schema.anyOf.some((form) => isText(form) && form.secret);
  problems.add(path, `expected ${expectedOf(schema)}; got ${describeWritten(written, isSecret)}`);
  return standIn(schema);
}
