import Type from 'typebox';
import { Check } from 'typebox/value';
import { parseQuantity, type Unit } from './quantity.js';

/**
 * The kinds of field that the configuration schema is made of, beside TypeBox's own objects, lists and unions.
 *
 * The schema states the value that the program gets (a number per second, an absolute path); keywords of ours state how
 * it is written, its range, and the sentence of the documentation. `default` is in the program's terms too.
 */
export interface QuantityKeywords {
  readonly unit: Unit;
  readonly least: number;
  readonly most: number;
  /** `unlimited` may be written; the value is Infinity. */
  readonly unlimited: boolean;
  /** What 0 means, where it is allowed outside the range. */
  readonly zero: string | undefined;
  readonly default: number | undefined;
  readonly description: string;
  /** Told to who wrote `null`, where that has a meaning elsewhere. */
  readonly onNull: string | undefined;
}

/** A number with a unit and a range. */
export type QuantityField = Type.TUnsafe<number> & QuantityKeywords;

type QuantityOptions = Pick<QuantityKeywords, 'least' | 'most' | 'description'> & Partial<QuantityKeywords>;

export function quantity(unit: Unit, options: QuantityOptions): QuantityField {
  const keywords = { unlimited: false, zero: undefined, default: undefined, onNull: undefined, ...options, unit };
  const schema = Type.Refine(Type.Unsafe<number>({}), (value) => inRange(keywords, value));
  return Object.assign(schema, keywords);
}

/** Whether the field may hold `value`. */
export function inRange(field: Omit<QuantityKeywords, 'description'>, value: unknown): boolean {
  if (value === Infinity) return field.unlimited;
  if (value === 0 && field.zero !== undefined) return true;
  return typeof value === 'number' && value >= field.least && value <= field.most;
}

/** The value written as `text`, or `undefined` when the field cannot hold that. */
export function quantityOf(field: QuantityKeywords, text: string): number | undefined {
  const value = parseQuantity(field.unit, text);
  return inRange(field, value) ? value : undefined;
}

/** What a text is read against: the folder that relative paths start from, and the variables that `env:NAME` names. */
export interface TextContext {
  readonly folder: string;
  readonly variables: NodeJS.ProcessEnv;
}

/** What a text came to: a value, or what is wrong with it. A fault never repeats a secret. */
export type Decoded<T> = { readonly value: T } | { readonly fault: string };

export interface TextKeywords<T> {
  readonly decode: (text: string, context: TextContext) => Decoded<T>;
  /** Completes "expected …". */
  readonly expected: string;
  /** The kind of value in a few words, for the documentation. */
  readonly written: string;
  readonly default: T | undefined;
  /** The default as it would be written. */
  readonly defaultText: string | undefined;
  /** Keeps the place of a broken value while the rest of the file is checked; nobody sees it. */
  readonly standIn: T | undefined;
  /** The text is a secret: messages never repeat it. */
  readonly secret: boolean;
  readonly description: string;
}

/** A text that stands for a value: an address, a path, a name, a key. */
export type TextField<T = unknown> = Type.TUnsafe<T> & TextKeywords<T>;

type TextOptions<T> = Pick<TextKeywords<T>, 'decode' | 'expected' | 'written' | 'description'> &
  Partial<TextKeywords<T>>;

export function text<T>(options: TextOptions<T>): TextField<T> {
  const keywords = { default: undefined, defaultText: undefined, standIn: undefined, secret: false, ...options };
  return Object.assign(Type.Unsafe<T>({}), keywords);
}

/** One of a few words. */
export type ChoiceField<T extends string = string> = Type.TUnsafe<T> & ChoiceKeywords<T>;

export interface ChoiceKeywords<T extends string> {
  readonly choices: readonly T[];
  readonly default: T;
  readonly description: string;
  /** Told to who wrote `null`, where that has a meaning elsewhere. */
  readonly onNull: string | undefined;
}

type ChoiceOptions<T extends string> = Pick<ChoiceKeywords<T>, 'default' | 'description'> & Partial<ChoiceKeywords<T>>;

export function choice<const T extends string>(choices: readonly T[], options: ChoiceOptions<T>): ChoiceField<T> {
  const schema: Type.TUnsafe<T> = Type.Unsafe<T>({ enum: choices });
  return Object.assign(schema, { onNull: undefined, ...options, choices });
}

/** True or false. */
export type FlagField = Type.TUnsafe<boolean> & FlagKeywords;

export interface FlagKeywords {
  readonly flag: true;
  /** The one value that may be written, where it is one form of several. */
  readonly only: boolean | undefined;
  readonly default: boolean;
  readonly description: string;
}

export function flag(options: Pick<FlagKeywords, 'default' | 'description'> & Partial<FlagKeywords>): FlagField {
  return Object.assign(Type.Unsafe<boolean>({ type: 'boolean' }), { only: undefined, ...options, flag: true } as const);
}

/** Entries under names that the user chooses: a Map, so that no name is special. */
export type EntriesField<V extends Type.TSchema = Type.TSchema> = Type.TUnsafe<ReadonlyMap<string, Type.Static<V>>> &
  EntriesKeywords<V>;

export interface EntriesKeywords<V extends Type.TSchema> {
  readonly entries: V;
  /** What is wrong with a name, if anything. */
  readonly nameFault: (name: string) => string | undefined;
  /** The section has to be written, if only as `{}`. */
  readonly mandatory: boolean;
  readonly description: string;
}

export function entriesOf<V extends Type.TSchema>(
  entries: V,
  keywords: Omit<EntriesKeywords<V>, 'entries'>,
): EntriesField<V> {
  const schema = Type.Refine(
    Type.Unsafe<ReadonlyMap<string, Type.Static<V>>>({}),
    (value) => value instanceof Map && [...value.values()].every((entry) => Check(entries, entry)),
  );
  return Object.assign(schema, { entries, ...keywords });
}

/** Any JSON object; what it means is somebody else's business. */
export type FreeField = Type.TUnsafe<Readonly<Record<string, unknown>>> & FreeKeywords;

export interface FreeKeywords {
  readonly free: true;
  readonly description: string;
}

export function freeObject(description: string): FreeField {
  return Object.assign(Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object' }), {
    free: true,
    description,
  } as const);
}

export function isQuantity(schema: Type.TSchema): schema is QuantityField {
  return 'unit' in schema;
}

export function isText(schema: Type.TSchema): schema is TextField {
  return 'decode' in schema;
}

export function isChoice(schema: Type.TSchema): schema is ChoiceField {
  return 'choices' in schema;
}

export function isFlag(schema: Type.TSchema): schema is FlagField {
  return 'flag' in schema;
}

export function isEntries(schema: Type.TSchema): schema is EntriesField {
  return 'entries' in schema;
}

export function isFree(schema: Type.TSchema): schema is FreeField {
  return 'free' in schema;
}
