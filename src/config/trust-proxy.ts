import { isIPv4, isIPv6 } from 'node:net';
import type { Decoded } from './field.js';
import { shortened } from './problem.js';

/**
 * Whose word on the client's address is believed: nobody's (`false`), that of so many proxies in a row before this
 * process, or that of the proxies in these networks, each as `ADDRESS/PREFIX` (`10.0.0.0/8`, `::1/128`).
 */
export type TrustProxy = false | number | readonly string[];

/** Completes "expected …". */
export const NETWORK_FORM = 'loopback, an address such as 10.0.0.7, or a network such as 10.0.0.0/8 or fd00::/8';

/** 127.0.0.0/8 is IPv4's loopback (RFC 1122), ::1 that of IPv6 (RFC 4291). */
const LOOPBACK = ['127.0.0.0/8', '::1/128'];

/** The networks that a word, an address or a network stands for. A prefix of 0 would be everybody, and is refused. */
export function networks(text: string): Decoded<readonly string[]> {
  if (text === 'loopback') return { value: LOOPBACK };
  const [, address = '', prefix] = /^([0-9A-Fa-f:.]+)(?:\/([1-9][0-9]{0,2}))?$/.exec(text) ?? [];
  const bits = isIPv4(address) ? 32 : isIPv6(address) ? 128 : 0;
  const length = prefix === undefined ? bits : Number(prefix);
  if (bits === 0 || length > bits) return { fault: `expected ${NETWORK_FORM}; got ${JSON.stringify(shortened(text))}` };
  return { value: [`${address}/${length}`] };
}
