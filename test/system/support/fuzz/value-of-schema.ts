import fc from 'fast-check';
import { type Node, nodeOf } from '../../../../src/http/described/describe-operation.js';
import { mostly, oddValue } from './odd-values.js';

/** Values that mean something, by the name of the parameter or member. */
export type Meaningful = Readonly<Record<string, readonly unknown[]>>;

/** Values that a schema mostly admits; `name` is what it stands under. */
export function valueOfSchema(name: string, schema: Node, meaningful: Meaningful): fc.Arbitrary<unknown> {
  const choices = [schema.anyOf ?? schema.oneOf ?? []].flat();
  if (choices.length > 0) {
    return fc.oneof(...choices.map((each) => valueOfSchema('', nodeOf(each) ?? {}, meaningful)));
  }
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  if ('const' in schema) return fc.constant(schema.const);
  const known = meaningful[name];
  if (known !== undefined) return fc.constantFrom(...known);
  switch (schema.type) {
    case 'integer':
      return fc.integer({ min: bound(schema.minimum, -10), max: bound(schema.maximum, 1000) });
    case 'number':
      return fc.oneof(fc.integer({ min: 1, max: 100 }), fc.double({ min: 0, max: 1e6, noNaN: true }));
    case 'boolean':
      return fc.boolean();
    case 'string':
      return fc.string({ maxLength: 12 });
    case 'array':
      return fc.array(valueOfSchema('', nodeOf(schema.items) ?? {}, meaningful), { maxLength: 4 });
    case 'object':
      return objectOfSchema(schema, meaningful);
    default:
      return oddValue;
  }
}

/** Objects with the required members and some of the others, each odd now and then. */
function objectOfSchema(schema: Node, meaningful: Meaningful): fc.Arbitrary<object> {
  const properties = Object.entries(nodeOf(schema.properties) ?? {}).map(
    ([name, each]) => [name, mostly(valueOfSchema(name, nodeOf(each) ?? {}, meaningful), oddValue)] as const,
  );
  const required = [schema.required ?? []].flat().map(String);
  return fc.record<Record<string, unknown>, string>(Object.fromEntries(properties), { requiredKeys: required });
}

function bound(stated: unknown, otherwise: number): number {
  return typeof stated === 'number' ? Math.max(-(2 ** 31), Math.min(stated, 2 ** 31)) : otherwise;
}
