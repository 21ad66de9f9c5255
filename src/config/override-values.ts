import Type from 'typebox';
import { Check } from 'typebox/value';
import { isChoice, isEntries, isQuantity, isText, quantityOf } from './field.js';
import { formatQuantity } from './quantity.js';

/**
 * Overrides of one subject as they are stored: the dotted name of each field (`rate`, `types.ocr.rate`, `capacity.burst`)
 * and its value as it would be written in the file. Names of types have no dot.
 */
export type OverrideValues = ReadonlyMap<string, string>;

export const NO_OVERRIDES: OverrideValues = new Map();

/** The fields of something that was read by `schema`, each as it would be written. */
export function writtenFields(schema: Type.TSchema, value: unknown, prefix = ''): Map<string, string> {
  if (value === undefined) return new Map();
  if (isEntries(schema) && value instanceof Map) {
    return joined([...value].map(([name, entry]) => writtenFields(schema.entries, entry, `${prefix}${name}.`)));
  }
  if (Type.IsObject(schema)) {
    const fields = new Map(Object.entries(Object(value)));
    const parts = Object.entries(schema.properties);
    return joined(parts.map(([name, property]) => writtenFields(property, fields.get(name), `${prefix}${name}.`)));
  }
  return new Map([[prefix.slice(0, -1), textOf(schema, value)]]);
}

function textOf(schema: Type.TSchema, value: unknown): string {
  if (Type.IsArray(schema)) return JSON.stringify(value);
  return isQuantity(schema) ? formatQuantity(schema.unit, Number(value)) : String(value);
}

/** What stored fields say, in the program's terms, and the names of those that say nothing by this schema. */
export function readWritten(
  schema: Type.TObject,
  values: OverrideValues,
): { readonly value: Record<string, unknown>; readonly ignored: string[] } {
  const value: Record<string, unknown> = {};
  const ignored: string[] = [];
  for (const [name, text] of values) {
    const leaf = leafAt(schema, name);
    const decoded = leaf && decode(leaf, text);
    if (decoded === undefined) ignored.push(name);
    else place(schema, value, name.split('.'), decoded);
  }
  return { value, ignored };
}

/** Without the secrets, which are never shown. */
export function withoutSecrets(schema: Type.TObject, values: OverrideValues): OverrideValues {
  const isSecret = (leaf: Type.TSchema | undefined): boolean => leaf !== undefined && isText(leaf) && leaf.secret;
  return new Map([...values].filter(([name]) => !isSecret(leafAt(schema, name))));
}

/** The same as JSON has them in a request: names inside one another, bare numbers where the file has bare numbers. */
export function overridesAsJson(schema: Type.TObject, values: OverrideValues): Record<string, unknown> {
  const json: Record<string, unknown> = {};
  for (const [name, text] of values) {
    const leaf = leafAt(schema, name);
    if (leaf === undefined) continue;
    const steps = name.split('.');
    const last = steps.pop() ?? '';
    let object = json;
    for (const step of steps) object = childOf(object, step);
    object[last] = overrideAsJson(leaf, text);
  }
  return json;
}

/** `"2/s"`, `50`, `"unlimited"`, `["failed"]`: a value as a request would have it. */
export function overrideAsJson(schema: Type.TSchema, text: string): unknown {
  return Type.IsArray(schema) ? JSON.parse(text) : writtenAsJson(schema, text);
}

/** The same of a value that is no list. */
export function writtenAsJson(schema: Type.TSchema, text: string): string | number {
  const isBare = isQuantity(schema) && (schema.unit === 'count' || schema.unit === 'number');
  return isBare && text !== 'unlimited' ? Number(text) : text;
}

/** The field that a dotted name stands for, if there is one. */
export function leafAt(schema: Type.TObject, name: string): Type.TSchema | undefined {
  let at: Type.TSchema = schema;
  for (const step of name.split('.')) {
    if (isEntries(at)) {
      if (at.nameFault(step) !== undefined) return undefined;
      at = at.entries;
    } else {
      const next: Type.TSchema | undefined =
        Type.IsObject(at) && Object.hasOwn(at.properties, step) ? at.properties[step] : undefined;
      if (next === undefined) return undefined;
      at = next;
    }
  }
  return isEntries(at) || Type.IsObject(at) ? undefined : at;
}

function decode(schema: Type.TSchema, text: string): unknown {
  if (isQuantity(schema)) return quantityOf(schema, text);
  if (isChoice(schema)) return schema.choices.includes(text) ? text : undefined;
  if (Type.IsArray(schema)) return listOf(schema, text);
  if (!isText(schema)) return undefined;
  const decoded = schema.decode(text, { folder: '', variables: {} });
  return 'value' in decoded ? decoded.value : undefined;
}

function listOf(schema: Type.TArray, text: string): unknown {
  try {
    const list: unknown = JSON.parse(text);
    return Check(schema, list) ? list : undefined;
  } catch {
    return undefined;
  }
}

function place(schema: Type.TSchema, into: unknown, steps: readonly string[], leaf: unknown): void {
  const [step = '', ...rest] = steps;
  const next = isEntries(schema) ? schema.entries : Type.IsObject(schema) ? schema.properties[step] : undefined;
  const set = (value: unknown) =>
    into instanceof Map ? into.set(step, value) : Reflect.set(Object(into), step, value);
  if (rest.length === 0 || next === undefined) set(leaf);
  else {
    const held: unknown = into instanceof Map ? into.get(step) : Reflect.get(Object(into), step);
    const child = held ?? (isEntries(next) ? new Map() : {});
    set(child);
    place(next, child, rest, leaf);
  }
}

function childOf(object: Record<string, unknown>, step: string): Record<string, unknown> {
  const child = object[step];
  if (isRecord(child)) return child;
  const made: Record<string, unknown> = {};
  object[step] = made;
  return made;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function joined(parts: readonly Map<string, string>[]): Map<string, string> {
  return new Map(parts.flatMap((part) => [...part]));
}
