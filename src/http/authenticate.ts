import type { Keyring, Principal } from './keyring.js';
import { accepted, type Checked, refused } from './problems.js';

/** What a configured key may look like, and no longer: anything else need not be hashed. */
const BEARER = /^bearer +([\x21-\x7e]{1,256}) *$/i;

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
