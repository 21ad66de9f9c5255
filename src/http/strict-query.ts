import type { FastifySchemaCompiler } from 'fastify';
import { Type } from 'typebox';
import { schemaCheck } from './body-checks.js';
import { type Checked, ProblemError } from './problems.js';
import { type ParameterKind, readQuery } from './query-string.js';

/** Fastify's parser of query strings, put off: a strict reading needs to know the parameters of the route. */
export function unreadQuery(text: string): { readonly text: string } {
  return { text };
}

/**
 * The validators of all routes. Query strings are read here, strictly, by the route's schema.
 *
 * Bodies are not touched: their schemas describe the routes, and the door itself checks them, because its order
 * (tenant, type and size come first) is part of the contract. Path parameters are text, and any text will do.
 */
export const requestValidators: FastifySchemaCompiler<unknown> = ({ schema, httpPart }) => {
  if (httpPart !== 'querystring') return () => true;
  if (!Type.IsObject(schema)) throw new Error('a query string is described by an object');
  const read = queryReader(schema);
  return (query: ReturnType<typeof unreadQuery>) => {
    const checked = read(query.text);
    return checked.ok ? { value: checked.value } : { error: new ProblemError(checked.problem) };
  };
};

/** Reads query strings by their schema. */
export function queryReader<const T extends Type.TObject>(schema: T): (text: string) => Checked<Type.Static<T>> {
  const kinds = parameterKinds(schema);
  const check = schemaCheck(schema, 'query');
  return (text) => {
    const values = readQuery(text, kinds);
    return values.ok ? check(values.value, []) : values;
  };
}

function parameterKinds(schema: Type.TObject): Readonly<Record<string, ParameterKind>> {
  return Object.fromEntries(
    Object.entries(schema.properties).map(([name, property]) => [name, parameterKind(property)]),
  );
}

function parameterKind(property: Type.TSchema): ParameterKind {
  if (Type.IsInteger(property)) return 'integer';
  return Type.IsNumber(property) ? 'number' : 'text';
}
