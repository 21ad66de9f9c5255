import { shortened } from './problem.js';

const NAME = /^[a-z][a-z0-9_-]{0,39}$/;
const TENANT_ID_BYTES = 128;

/** What is wrong with the name of a type or tier; `undefined` when nothing is. */
export function nameFault(name: string): string | undefined {
  if (NAME.test(name)) return undefined;
  return `expected a name of a-z, 0-9, _ and -, from a letter on, at most 40 long; got ${JSON.stringify(shortened(name))}`;
}

/** What is wrong with a tenant's id; `undefined` when nothing is. Ids are compared byte by byte, as they are. */
export function tenantIdFault(id: string): string | undefined {
  const bytes = Buffer.from(id);
  if (bytes.length < 1 || bytes.length > TENANT_ID_BYTES) {
    return `expected a tenant id of 1 to ${TENANT_ID_BYTES} bytes of UTF-8; got ${bytes.length} bytes`;
  }
  // Half of a surrogate pair has no UTF-8: it would turn into the replacement character, as any other half would.
  if (bytes.toString() !== id) return 'expected a tenant id that is valid Unicode; got half of a surrogate pair';
  return undefined;
}
