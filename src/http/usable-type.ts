import type { Door, DoorType } from './door.js';
import { nameHint } from './name-hint.js';
import { accepted, type Checked, refused } from './problems.js';
import { shown } from './shown.js';

/** The rules of the type called `name`, if there is one and `tenant` may use it. `field` is where the name stands. */
export function usableType(door: Door, tenant: string, name: string, field: string): Checked<DoorType> {
  const rules = door.type(name);
  if (rules === undefined) {
    const hint = nameHint(name, usableTypes(door, tenant), 'types');
    return refused({ code: 'unknown_type', field, detail: `There is no job type ${shown(name)}: ${hint}` });
  }
  if (door.allowed(tenant, name)) return accepted(rules);
  return refused({ code: 'type_forbidden', field, detail: `The tenant may not use the type ${shown(name)}.` });
}

/** The names of the types that `tenant` may use. */
export function usableTypes(door: Door, tenant: string): readonly string[] {
  return door.typeNames().filter((name) => door.allowed(tenant, name));
}
