import type Type from 'typebox';
import { isChoice, isFlag, isQuantity, isText, quantityOf } from './field.js';
import { expectedOf } from './field-text.js';
import type { Path } from './problem.js';
import type { Reading } from './reading.js';
import { standIn } from './unstated.js';
import { describeWritten, type Written } from './yaml-source.js';

/** Reads a single value: a quantity, a choice, a flag or a text. */
export function readScalar(
  schema: Type.TSchema,
  written: Written,
  path: Path,
  { problems, context }: Reading,
): unknown {
  const secret = isText(schema) && schema.secret;
  const mismatch = () => problems.add(path, `expected ${expectedOf(schema)}; got ${describeWritten(written, secret)}`);

  const isNull = written.kind === 'null' || written.kind === 'nothing';
  if (isNull && (isQuantity(schema) || isChoice(schema)) && schema.onNull !== undefined) {
    problems.add(path, schema.onNull);
  } else if (isQuantity(schema)) {
    // A bare number and the same digits in quotes differ only where the unit has no letters of its own.
    const bare = schema.unit === 'number' || schema.unit === 'count';
    const readable = written.kind === 'number' || (written.kind === 'text' && !(bare && written.text !== 'unlimited'));
    const value = readable ? quantityOf(schema, written.text) : undefined;
    if (value !== undefined) return value;
    mismatch();
  } else if (isChoice(schema)) {
    if (written.kind === 'text' && schema.choices.includes(written.text)) return written.text;
    mismatch();
  } else if (isFlag(schema)) {
    if (written.kind === 'boolean') return flagOf(written.text);
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

/** YAML writes it in small letters, in capitals, or with one capital. */
export function flagOf(text: string): boolean {
  return text.toLowerCase() === 'true';
}
