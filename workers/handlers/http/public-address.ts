import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The upstream stands at an address that the type does not allow. It names none: whoever reads the job may not know it. */
export class PrivateAddressError extends Error {
  override readonly name = 'PrivateAddressError';

  constructor() {
    super('the upstream stands at an address that is not public: set options.allowPrivate where that is meant');
  }
}

/**
 * True for an address of the public internet. False for loopback, private, link-local, shared, multicast and reserved ones,
 * for IPv6 that carries an IPv4 address (mapped, NAT64, 6to4, Teredo), and for whatever is no address.
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  // Of IPv6 only 2000::/3 is given out; what stands outside of it is old or of local use.
  return address instanceof ipaddr.IPv4 || ((address.parts[0] ?? 0) & 0xe000) === 0x2000;
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
