import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isPublicAddress } from '../../../src/model/public-address.js';

/** The upstream stands at an address that the type does not allow. It names none: whoever reads the job may not know it. */
export class PrivateAddressError extends Error {
  override readonly name = 'PrivateAddressError';

  constructor() {
    super('the upstream stands at an address that is not public: set options.allowPrivate where that is meant');
  }
}

/**
 * Resolves a name as Node does, and fails when any of its addresses is not public. A socket connects to what its lookup
 * answered and asks no further, so what was checked is what is connected to. Names alone get here, never addresses.
 */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true } satisfies LookupOptions, (error, addresses: LookupAddress[]) => {
    const [first] = addresses ?? [];
    if (error !== null || first === undefined) return callback(error ?? new Error(`${hostname} has no address`), []);
    if (!addresses.every(({ address }) => isPublicAddress(address))) return callback(new PrivateAddressError(), []);
    return options.all === true ? callback(null, addresses) : callback(null, first.address, first.family);
  });
};
