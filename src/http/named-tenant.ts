import { tenantIdFault } from '../config/names.js';
import type { Principal } from './keyring.js';
import { accepted, type Checked, refused } from './problems.js';
import { shown } from './shown.js';

/**
 * The tenant that a request is about: the holder of a tenant's key, or whom an admin names.
 *
 * `named` is the request's own `tenant`, untouched; `field` is where it stands (`tenant`, `jobs[3].tenant`).
 */
export function namedTenant(principal: Principal, named: unknown, field: string): Checked<string> {
  if (named === undefined) {
    if (principal.kind === 'tenant') return accepted(principal.tenant);
    return refused({ code: 'missing_field', field, detail: `An admin key has to name the tenant in \`${field}\`.` });
  }
  const fault = typeof named === 'string' ? tenantIdFault(named) : `expected text; got ${shown(named)}`;
  if (typeof named !== 'string' || fault !== undefined) {
    return refused({ code: 'invalid_field', field, detail: `\`${field}\` names no tenant: ${fault}.` });
  }
  if (principal.kind === 'tenant' && principal.tenant !== named) {
    return refused({
      code: 'tenant_forbidden',
      field,
      detail: `This key may not speak for the tenant in \`${field}\`.`,
    });
  }
  return accepted(named);
}
