import type Type from 'typebox';
import { Compile } from 'typebox/compile';
import { Compile as CompileJsonSchema } from 'typebox/schema';
import type { Path } from '../config/problem.js';
import type { Door } from './door.js';
import { BatchEnvelope, BatchItem, JobRequest } from './job-request.js';
import { accepted, type Checked, refused } from './problems.js';
import { type FaultContext, type SchemaFault, schemaProblem } from './schema-fault.js';

/** Checks a value that stands at a place in the request. */
export type Check<T> = (value: unknown, at: Path) => Checked<T>;

/** The compiled schemas that the door needs. */
export interface BodyChecks {
  readonly job: Check<JobRequest>;
  readonly item: Check<BatchItem>;
  readonly batch: Check<BatchEnvelope>;
  /** Checks the payload of a type; compiled once per schema. */
  data(schema: object): Check<unknown>;
}

/**
 * Compiles the door's schemas, and those of all types known by now, so that no first caller waits for it.
 *
 * @throws Error when the schema of a type is not usable.
 */
export function compileBodyChecks(door: Door): BodyChecks {
  const byData = new WeakMap<object, Check<unknown>>();
  const data = (schema: object): Check<unknown> => {
    const check = byData.get(schema) ?? dataCheck(schema);
    byData.set(schema, check);
    return check;
  };
  for (const name of door.typeNames()) {
    const schema = door.type(name)?.dataSchema;
    if (schema) data(schema);
  }
  return {
    job: schemaCheck(JobRequest, 'body'),
    item: schemaCheck(BatchItem, 'body'),
    batch: schemaCheck(BatchEnvelope, 'body'),
    data,
  };
}

/** A check by one of our own schemas. `whole` is what to call the value as a whole. */
export function schemaCheck<const T extends Type.TSchema>(schema: T, whole: string): Check<Type.Static<T>> {
  const validator = Compile(schema);
  const context = { schema, whole, described: true };
  return (value, at) =>
    validator.Check(value) ? accepted(value) : refusal(validator.Errors(value), value, at, context);
}

function dataCheck(schema: object): Check<unknown> {
  const validator = CompileJsonSchema(schema);
  const context = { schema, whole: 'data', described: false };
  return (value, at) =>
    validator.Check(value) ? accepted(value) : refusal(validator.Errors(value)[1], value, at, context);
}

function refusal(faults: readonly SchemaFault[], value: unknown, at: Path, context: FaultContext): Checked<never> {
  return refused(schemaProblem(tellingFault(faults), value, at, context));
}

/** The first fault; or, where that is only about one of several alternatives, that none of them fits. */
function tellingFault(faults: readonly SchemaFault[]): SchemaFault {
  const [first = UNNAMED_FAULT] = faults;
  const choices = faults.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf');
  return choices.findLast((choice) => first.schemaPath.startsWith(`${choice.schemaPath}/${choice.keyword}`)) ?? first;
}

const UNNAMED_FAULT: SchemaFault = {
  keyword: '',
  schemaPath: '#',
  instancePath: '',
  params: {},
  message: 'must match its schema',
};
