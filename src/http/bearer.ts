import type { Keyring, Principal } from './keyring.js';
import { accepted, type Checked, refused } from './problems.js';

/** RFC 6750's token, bounded: a longer one cannot be a key of ours and need not be hashed. */
const BEARER = /^bearer +([A-Za-z0-9\-._~+/]{1,512}=*) *$/i;

/** The holder of the key in an `Authorization` header. */
export function authenticate(keyring: Keyring, authorization: string | undefined): Checked<Principal> {
  if (authorization === undefined || authorization.trim() === '') {
    return refused({
      code: 'missing_key',
      field: 'Authorization',
      detail: 'Send `Authorization: Bearer <key>` with a key of a tenant, or of an admin.',
    });
  }
  const key = BEARER.exec(authorization)?.[1];
  if (key === undefined) {
    return refused({
      code: 'invalid_key',
      field: 'Authorization',
      detail: 'The `Authorization` header does not have the form `Bearer <key>`.',
    });
  }
  const principal = keyring.find(key);
  if (principal === undefined) {
    return refused({ code: 'invalid_key', field: 'Authorization', detail: 'Nobody holds this key.' });
  }
  return accepted(principal);
}
