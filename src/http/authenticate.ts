import type { IncomingHttpHeaders } from 'node:http';
import type { KeyHolder, Keyring, Principal, WorkerScope } from './keyring.js';
import { accepted, type Checked, type Problem, refused } from './problems.js';

/** What a configured key may look like, and no longer: anything else need not be hashed. */
const BEARER = /^bearer +([\x21-\x7e]{1,256}) *$/i;
const BARE_KEY = /^[\x21-\x7e]{1,256}$/;

/** Where a gateway shows its own key: `Authorization` is for the application behind it. */
export const GATEWAY_KEY_HEADER = 'X-Headgate-Gateway-Key';

/** The key in an `Authorization` header. */
export function bearerKey(authorization: string | undefined): Checked<string> {
  if (authorization === undefined || authorization.trim() === '') {
    return refused({
      code: 'missing_key',
      field: 'Authorization',
      detail: 'Send `Authorization: Bearer <key>` with a key of a tenant, or of an admin.',
    });
  }
  const key = BEARER.exec(authorization)?.[1];
  if (key !== undefined) return accepted(key);
  return refused({
    code: 'invalid_key',
    field: 'Authorization',
    detail: 'The `Authorization` header does not have the form `Bearer <key>`.',
  });
}

export const NOBODYS_KEY: Problem = {
  code: 'invalid_key',
  field: 'Authorization',
  detail: 'Nobody holds this key.',
};

/** For whom the holder of a key may speak here. */
export function principalOfHolder(holder: KeyHolder): Checked<Principal> {
  if (holder.kind === 'tenant' || holder.kind === 'admin') return accepted(holder);
  const detail =
    holder.kind === 'worker'
      ? "This key is a worker's: it opens the addresses under /v1/workers."
      : `This key is a gateway's: it opens /v1/forward-auth, in \`${GATEWAY_KEY_HEADER}\`.`;
  return refused({ code: 'invalid_key', field: 'Authorization', detail });
}

/** Whether the holder of a key may take jobs, and of which types: a worker, or an admin. */
export function workerOfHolder(holder: KeyHolder): Checked<WorkerScope> {
  if (holder.kind === 'worker') return accepted({ types: holder.types });
  if (holder.kind === 'admin') return accepted({ types: null });
  const detail = 'Jobs are taken and ended with the key of a worker: `workers: { keys: […] }` in the configuration.';
  return refused({ code: 'worker_only', field: 'Authorization', detail });
}

/** Whether a request shows the key of a gateway, or of an admin, in the header for it. */
export function authenticateGateway(keyring: Keyring, headers: IncomingHttpHeaders): Checked<'gateway' | 'admin'> {
  const field = GATEWAY_KEY_HEADER;
  const key = headers[field.toLowerCase()];
  if (key === undefined || key === '') {
    return refused({ code: 'missing_key', field, detail: `Have the gateway send its own key in \`${field}\`.` });
  }
  const holder = typeof key === 'string' && BARE_KEY.test(key) ? keyring.find(key) : undefined;
  if (holder?.kind !== 'gateway' && holder?.kind !== 'admin') {
    return refused({ code: 'invalid_key', field, detail: `\`${field}\` does not hold the key of a gateway.` });
  }
  return accepted(holder.kind);
}
