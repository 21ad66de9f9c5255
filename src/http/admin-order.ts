import type { FastifyRequest } from 'fastify';
import type { Administration } from '../shaping/administration.js';
import { adminOnly, askedTypes, knownType, noBody, tenantId } from './admin-only.js';
import { accepted, type Checked } from './problems.js';

/** What an order without a body is about: the buckets of one tenant. */
export interface TenantOrder {
  readonly tenant: string;
  readonly types: readonly string[];
}

/** An admin's order for `/v1/tenants/:id/…`, for all types or for the one of `?type=`. */
export function tenantOrder(
  admin: Administration,
  request: FastifyRequest,
  { id, type }: { readonly id: string; readonly type?: string | undefined },
): Checked<TenantOrder> {
  const may = adminOnly(request);
  if (!may.ok) return may;
  const tenant = tenantId(id);
  if (!tenant.ok) return tenant;
  const empty = noBody(request.body);
  if (!empty.ok) return empty;
  const types = askedTypes(admin, type);
  return types.ok ? accepted({ tenant: tenant.value, types: types.value }) : types;
}

/** An admin's order for `/v1/types/:name/…`: the type's name. */
export function typeOrder(admin: Administration, request: FastifyRequest, name: string): Checked<string> {
  const may = adminOnly(request);
  if (!may.ok) return may;
  const type = knownType(admin, name);
  if (!type.ok) return type;
  const empty = noBody(request.body);
  return empty.ok ? type : empty;
}
