import Type from 'typebox';
import { isChoice, isEntries, isFlag, isFree, isQuantity, type QuantityKeywords } from './field.js';
import { formatQuantity, type Unit } from './quantity.js';

const NOUN: Record<Unit, string> = {
  rate: 'a rate',
  duration: 'a duration',
  size: 'a size',
  count: 'a whole number',
  number: 'a number',
};

const EXAMPLES: Partial<Record<Unit, string>> = {
  rate: ' (such as 10/s, 60/m or 100/h)',
  duration: ' (such as 250ms, 60s, 5m, 1h or 2d)',
  size: ' (such as 512KB or 64MB; a bare number is bytes)',
};

/** Completes "expected …" for any field. */
export function expectedOf(schema: Type.TSchema): string {
  if (isQuantity(schema)) {
    const range = `${NOUN[schema.unit]} from ${formatBound(schema, schema.least)} to ${formatBound(schema, schema.most)}`;
    const besides = exceptions(schema);
    const joined =
      besides.length > 1 ? `, ${besides.join(' or ')}` : besides.map((exception) => ` or ${exception}`).join('');
    return `${range}${EXAMPLES[schema.unit] ?? ''}${joined}`;
  }
  if (isChoice(schema)) return anyOf(schema.choices);
  if (isFlag(schema)) return 'true or false';
  if (isEntries(schema)) return 'a mapping of names ({} for none)';
  if (isFree(schema)) return 'a mapping ({} for none)';
  if ('expected' in schema && typeof schema.expected === 'string') return schema.expected;
  if (Type.IsArray(schema)) return 'a list ([] for none)';
  return Type.IsObject(schema) ? `a mapping with ${Object.keys(schema.properties).join(', ')}` : 'something else';
}

/** `a`, `a or b`, `a, b or c`. */
function anyOf(words: readonly string[]): string {
  return [words.slice(0, -1).join(', '), ...words.slice(-1)].filter((part) => part !== '').join(' or ');
}

/** What a quantity may be outside its range, as it is written. */
export function exceptions(field: QuantityKeywords): string[] {
  return [...(field.zero === undefined ? [] : [`0 (${field.zero})`]), ...(field.unlimited ? ['unlimited'] : [])];
}

/** A bound of a range; rates keep one unit, so that the two ends compare. */
export function formatBound({ unit }: QuantityKeywords, value: number): string {
  return unit === 'rate' ? `${value}/s` : formatQuantity(unit, value);
}
