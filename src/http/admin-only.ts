import type { FastifyRequest } from 'fastify';
import { tenantIdFault } from '../config/names.js';
import type { Administration } from '../shaping/administration.js';
import { principalOf } from './first-look.js';
import { nameHint } from './name-hint.js';
import { accepted, type Checked, refused } from './problems.js';
import { shown } from './shown.js';

/** Whether a request shows an admin's key. */
export function adminOnly(request: FastifyRequest): Checked<true> {
  if (principalOf(request).kind === 'admin') return accepted(true);
  const detail = 'What holds for tenants, tiers and types is shown to an admin key, and changed with one.';
  return refused({ code: 'admin_only', field: 'Authorization', detail });
}

/** A tenant's id from a path. It need not be known. */
export function tenantId(id: string): Checked<string> {
  const fault = tenantIdFault(id);
  if (fault === undefined) return accepted(id);
  return refused({ code: 'invalid_field', field: 'id', detail: `The address names no tenant: ${fault}.` });
}

/** A type's name from a path. */
export function knownType({ live }: Administration, name: string): Checked<string> {
  if (live.file.types.has(name)) return accepted(name);
  const hint = nameHint(name, [...live.file.types.keys()], 'types');
  return refused({ code: 'type_not_found', detail: `There is no job type ${shown(name)}: ${hint}` });
}

/** The types that `?type=` names: the one, or all. */
export function askedTypes({ live }: Administration, type: string | undefined): Checked<readonly string[]> {
  const names = [...live.file.types.keys()];
  if (type === undefined) return accepted(names);
  if (names.includes(type)) return accepted([type]);
  const hint = nameHint(type, names, 'types');
  return refused({
    code: 'unknown_type',
    field: 'type',
    detail: `There is no job type ${shown(type)}: ${hint}`,
  });
}

/** Where everything is said by the address, a body says nothing. */
export function noBody(body: unknown): Checked<true> {
  const isEmpty = typeof body === 'object' && body !== null && !Array.isArray(body) && Object.keys(body).length === 0;
  if (body === undefined || isEmpty) return accepted(true);
  return refused({ code: 'invalid_field', field: 'body', detail: 'There is nothing to say in the body here.' });
}
