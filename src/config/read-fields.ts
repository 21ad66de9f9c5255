import Type from 'typebox';
import {
  type EntriesField,
  isChoice,
  isEntries,
  isFree,
  isQuantity,
  isText,
  quantityOf,
  type TextContext,
} from './field.js';
import { expectedOf } from './field-text.js';
import { suggestName } from './nearest-name.js';
import type { Path } from './problem.js';
import type { ProblemList } from './problem-list.js';
import { readFreeObject } from './read-free-object.js';
import { describeWritten, type Entry, type Written, type YamlSource } from './yaml-source.js';

/** Stands for a value that cannot be made up: what it belongs to is broken as well. */
export const BROKEN = Symbol('broken');

/** What reading needs beside the schema and the node. */
export interface Reading {
  readonly source: YamlSource;
  readonly problems: ProblemList;
  readonly context: TextContext;
}

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

/** The value of a field that is not written; BROKEN when it has to be. */
export function unstated(schema: Type.TSchema): unknown {
  if (Type.IsOptional(schema)) return undefined;
  if ('default' in schema && schema.default !== undefined) return schema.default;
  if (isEntries(schema)) return schema.mandatory ? BROKEN : new Map();
  if (isFree(schema)) return {};
  return Type.IsObject(schema) ? objectOf(schema, unstated) : BROKEN;
}

/** Keeps the place of a broken value: what it would be if it were not written, else some value that is allowed. */
function standIn(schema: Type.TSchema): unknown {
  const value = unstated(schema);
  if (value !== BROKEN) return value;
  if (isEntries(schema)) return new Map();
  if (isQuantity(schema)) return schema.least;
  if (isText(schema)) return schema.standIn ?? BROKEN;
  return Type.IsObject(schema) ? objectOf(schema, standIn) : BROKEN;
}

function objectOf(schema: Type.TObject, fill: (property: Type.TSchema) => unknown): unknown {
  const object: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(schema.properties)) {
    const value = fill(property);
    if (value === BROKEN) return BROKEN;
    if (value !== undefined) object[name] = value;
  }
  return object;
}

function readScalar(schema: Type.TSchema, written: Written, path: Path, { problems, context }: Reading): unknown {
  const secret = isText(schema) && schema.secret;
  const mismatch = () => problems.add(path, `expected ${expectedOf(schema)}; got ${describeWritten(written, secret)}`);

  if (isQuantity(schema)) {
    const isNull = written.kind === 'null' || written.kind === 'nothing';
    if (isNull && schema.onNull !== undefined) {
      problems.add(path, schema.onNull);
      return standIn(schema);
    }
    // A bare number and the same digits in quotes differ only where the unit has no letters of its own.
    const bare = schema.unit === 'number' || schema.unit === 'count';
    const readable = written.kind === 'number' || (written.kind === 'text' && !(bare && written.text !== 'unlimited'));
    const value = readable ? quantityOf(schema, written.text) : undefined;
    if (value !== undefined) return value;
    mismatch();
  } else if (isChoice(schema)) {
    if (written.kind === 'text' && schema.choices.includes(written.text)) return written.text;
    mismatch();
  } else if (isText(schema)) {
    if (written.kind === 'text' && written.text !== '') {
      const decoded = schema.decode(written.text, context);
      if ('value' in decoded) return decoded.value;
      problems.add(path, decoded.fault);
    } else mismatch();
  } else throw new Error(`the schema has a field of no known kind at ${JSON.stringify(path)}`);
  return standIn(schema);
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
  let broken = false;
  for (const [name, property] of Object.entries(schema.properties)) {
    const entry = stated.get(name);
    let value = entry === undefined ? unstated(property) : readField(property, entry.value, [...path, name], reading);
    if (entry === undefined && value === BROKEN) {
      problems.add([...path, name], `required; expected ${expectedOf(property)}`);
      value = standIn(property);
    }
    if (value === BROKEN) broken = true;
    else if (value !== undefined) object[name] = value;
  }
  return broken ? BROKEN : object;
}

function readEntries(schema: EntriesField, written: Written, path: Path, reading: Reading): unknown {
  if (written.kind !== 'mapping') return wrongShape(schema, written, path, reading);
  const entries = new Map<string, unknown>();
  for (const { name, key, value } of namedEntries(written, path, reading)) {
    const place = [...path, name];
    const fault = schema.nameFault(name);
    if (fault !== undefined) reading.problems.add(place, fault, reading.source.position(key));
    const read = readField(schema.entries, value, place, reading);
    if (read !== BROKEN) entries.set(name, read);
  }
  return entries;
}

function readList(schema: Type.TArray, written: Written, path: Path, reading: Reading): unknown {
  if (written.kind !== 'list') return wrongShape(schema, written, path, reading);
  const items: unknown[] = [];
  written.list.items.forEach((node, index) => {
    const place = [...path, index];
    reading.problems.locate(place, reading.source.position(node));
    const item = readField(schema.items, node, place, reading);
    if (item !== BROKEN) items.push(item);
  });
  return items;
}

/** Of several forms the one that was meant: the scalar for a scalar, else the object whose fields are most alike. */
function readAlternative(schema: Type.TUnion, node: unknown, path: Path, reading: Reading): unknown {
  const written = reading.source.written(node);
  const objects = schema.anyOf.filter(Type.IsObject);
  const plain = schema.anyOf.find((form) => !Type.IsObject(form));
  let form: Type.TSchema | undefined = written.kind === 'number' ? plain : undefined;
  if (written.kind === 'mapping') {
    const names = reading.source.entries(written.mapping).map(({ name }) => name);
    const alike = (object: Type.TObject) =>
      Object.keys(object.properties).filter((name) => names.includes(name)).length;
    form = objects.toSorted((a, b) => alike(b) - alike(a))[0];
  }
  if (form === undefined) return wrongShape(schema, written, path, reading);
  return readField(form, node, path, reading);
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
  problems.add(path, `expected ${expectedOf(schema)}; got ${describeWritten(written)}`);
  return standIn(schema);
}
