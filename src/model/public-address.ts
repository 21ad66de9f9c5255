import ipaddr from 'ipaddr.js';

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
 * The address that a URL's host is, without brackets; `undefined` for a name, which has to be resolved. Whatever way an
 * address was spelt, a WHATWG URL has it as four decimal numbers or in brackets.
 */
export function addressIn({ hostname }: URL): string | undefined {
  const host = hostname.replace(/^\[|\]$/g, '');
  return /^[\d.]+$/.test(host) || host.includes(':') ? host : undefined;
}
