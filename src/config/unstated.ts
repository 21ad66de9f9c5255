import Type from 'typebox';
import { isEntries, isFree, isQuantity } from './field.js';

/** Stands for a value that has to be written. */
export const REQUIRED = Symbol('required');

/** The value of a field that is not written; REQUIRED when it has to be. */
export function unstated(schema: Type.TSchema): unknown {
  if (Type.IsOptional(schema)) return undefined;
  if ('default' in schema && schema.default !== undefined) return schema.default;
  if (isEntries(schema)) return schema.mandatory ? REQUIRED : new Map();
  if (isFree(schema)) return {};
  return Type.IsObject(schema) ? objectOf(schema, unstated) : REQUIRED;
}

/** Keeps the place of a broken value: what it would be if it were not written, else some value of its kind. */
export function standIn(schema: Type.TSchema): unknown {
  const value = unstated(schema);
  if (value !== REQUIRED) return value;
  if (isEntries(schema)) return new Map();
  if (isQuantity(schema)) return schema.least;
  if ('standIn' in schema && schema.standIn !== undefined) return schema.standIn;
  if (Type.IsArray(schema)) return [];
  if (Type.IsObject(schema)) return objectOf(schema, standIn);
  throw new Error('the schema has a required field with nothing to stand in for it');
}

function objectOf(schema: Type.TObject, fill: (property: Type.TSchema) => unknown): unknown {
  const object: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(schema.properties)) {
    const value = fill(property);
    if (value === REQUIRED) return REQUIRED;
    if (value !== undefined) object[name] = value;
  }
  return object;
}
