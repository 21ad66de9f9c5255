import { nearestName } from '../config/nearest-name.js';
import { formatPath, type Path, shortened } from '../config/problem.js';
import { followPointer, ownMember } from './json-pointer.js';
import type { Problem } from './problems.js';
import { shown } from './shown.js';

/** What the validator says about a value. The paths are JSON pointers, `schemaPath` after a `#`. */
export interface SchemaFault {
  readonly keyword: string;
  readonly schemaPath: string;
  readonly instancePath: string;
  readonly params: object;
  readonly message: string;
}

/** Where a checked value stands in the request, and whose schema it was checked by. */
export interface FaultContext {
  readonly schema: object;
  /** What to call the value as a whole: `body`, `query`. */
  readonly whole: string;
  /**
   * Our own schemas carry descriptions that complete "must be …". Those of job types carry their authors' prose, so
   * the validator's words are used for them.
   */
  readonly described: boolean;
}

/**
 * The problem that answers `fault`.
 *
 * @param root The value that was checked.
 * @param at Where it stands in the request; empty for the whole of it.
 */
export function schemaProblem(fault: SchemaFault, root: unknown, at: Path, context: FaultContext): Problem {
  const place = followPointer(root, fault.instancePath);
  const path = [...at, ...place.path];
  const schema = followPointer(context.schema, fault.schemaPath.slice(1)).value;
  switch (fault.keyword) {
    case 'required':
      return missingField(path, firstOf(fault.params, 'requiredProperties'), schema, place.value);
    case 'additionalProperties':
      return unknownField([...path, firstOf(fault.params, 'additionalProperties')], schema);
    case 'boolean':
      return unknownField(path, followPointer(context.schema, parentPointer(fault.schemaPath)).value);
    default: {
      const field = formatPath(path) || context.whole;
      const description = context.described ? ownMember(schema, 'description') : undefined;
      const expected = typeof description === 'string' ? `must be ${description}` : fault.message;
      return { code: 'invalid_field', field, detail: `\`${field}\` ${expected}; got ${shown(place.value)}.` };
    }
  }
}

function missingField(path: Path, name: string, schema: unknown, present: unknown): Problem {
  const field = formatPath([...path, name]);
  const known = namesIn(ownMember(schema, 'properties'));
  const slip = nearestName(
    name,
    namesIn(present).filter((stranger) => !known.includes(stranger)),
  );
  const hint = slip === undefined ? '' : ` Is \`${shortened(slip)}\` meant to be it?`;
  return { code: 'missing_field', field, detail: `\`${field}\` is required.${hint}` };
}

/** Names in a message, at most. */
const LISTED = 12;

/** `schema` is the one of the object that has the field. */
function unknownField(path: Path, schema: unknown): Problem {
  const field = formatPath(path);
  const known = namesIn(ownMember(schema, 'properties'));
  const near = nearestName(String(path.at(-1)), known);
  const more = known.length > LISTED ? ', …' : '';
  const list = known.length === 0 ? '' : ` The fields are ${known.slice(0, LISTED).join(', ')}${more}.`;
  const hint = near === undefined ? list : ` Did you mean \`${near}\`?`;
  return { code: 'unknown_field', field, detail: `\`${field}\` is not known here.${hint}` };
}

function firstOf(params: object, name: string): string {
  const names: unknown = ownMember(params, name);
  return Array.isArray(names) ? String(names[0]) : '';
}

function namesIn(value: unknown): readonly string[] {
  return typeof value === 'object' && value !== null ? Object.keys(value) : [];
}

/** `#/a/additionalProperties` → `/a` */
function parentPointer(schemaPath: string): string {
  return schemaPath.slice(1, schemaPath.lastIndexOf('/'));
}
