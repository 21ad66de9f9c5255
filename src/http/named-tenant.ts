import type { Principal } from './keyring.js';
import { accepted, type Checked, refused } from './problems.js';

/** Bytes of UTF-8 in the longest tenant id. */
export const LONGEST_TENANT = 128;

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
  if (typeof named !== 'string' || !isTenantId(named)) {
    return refused({
      code: 'invalid_field',
      field,
      detail: `\`${field}\` must be the id of a tenant: text of 1 to ${LONGEST_TENANT} bytes in UTF-8.`,
    });
  }
  if (principal.kind === 'tenant' && principal.tenant !== named) {
    return refused({ code: 'tenant_forbidden', field, detail: `This key may not speak for the tenant in \`${field}\`.` });
  }
  return accepted(named);
}

/** Half of a surrogate pair has no form in UTF-8: two such ids would end up in one bucket. */
function isTenantId(text: string): boolean {
  return text !== '' && text.length <= LONGEST_TENANT && Buffer.byteLength(text) <= LONGEST_TENANT && !/\p{Cs}/u.test(text);
}
