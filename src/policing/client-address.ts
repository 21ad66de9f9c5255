import { isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Longer than any address with a port and the name of a zone. */
const MAX_LENGTH = 128;
/** What this function itself writes behind an IPv6 address. */
const SUBSCRIBER = /::\/64$/;
const WITH_PORT = /^(?:\[([^[\]]*)\]|([^:]*))(?::\d{1,5})?$/;

/** Where the last 32 bits are an IPv4 address: mapped by the socket, or by a translator (RFC 4291, 7915, 6052). */
const IPV4_PREFIXES = ['::ffff:0:0/96', '::ffff:0:0:0/96', '64:ff9b::/96'].map((text) => ipaddr.IPv6.parseCIDR(text));

/**
 * One client's address, written in one way: IPv4 as it is, also where it comes written as IPv6; of IPv6 the /64, which
 * is what one subscriber has at least (`2001:db8:1:2::/64`). Ports and zones are dropped. `undefined` when the text is
 * no address: IPv4 in octal, in hex or in fewer than four parts is none, since programs disagree on what it means.
 */
export function clientAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  if (text.length > MAX_LENGTH) return undefined;
  const address = withoutZone(withoutPort(text.replace(SUBSCRIBER, '::')));
  if (isIPv4(address)) return address;
  return isIPv6(address) ? subscriberOf(ipaddr.IPv6.parse(withoutDots(address))) : undefined;
}

function withoutPort(text: string): string {
  const [, bracketed, plain] = WITH_PORT.exec(text) ?? [];
  if (bracketed !== undefined) return bracketed.includes(':') ? bracketed : '';
  return plain ?? text;
}

/** Of `fe80::1%eth0` the address; the zone says by which of the server's own interfaces it came. */
function withoutZone(text: string): string {
  const at = text.indexOf('%');
  return at !== -1 && text.includes(':') ? text.slice(0, at) : text;
}

/** The last 32 bits in hex where they are written as IPv4, which `::1.2.3.4` would else be taken for. */
function withoutDots(address: string): string {
  if (!address.includes('.')) return address;
  const at = address.lastIndexOf(':') + 1;
  const [a = 0, b = 0, c = 0, d = 0] = ipaddr.IPv4.parse(address.slice(at)).octets;
  return `${address.slice(0, at)}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}

function subscriberOf(address: ipaddr.IPv6): string {
  const embedsIPv4 = IPV4_PREFIXES.some(([prefix, bits]) => address.match(prefix, bits));
  if (embedsIPv4) return new ipaddr.IPv4(address.toByteArray().slice(12)).toString();
  return `${new ipaddr.IPv6([...address.parts.slice(0, 4), 0, 0, 0, 0]).toRFC5952String()}/64`;
}
