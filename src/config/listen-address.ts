import { isIPv6 } from 'node:net';
import type { Decoded } from './field.js';
import { shortened } from './problem.js';

/** Where the API listens. Port 0 lets the system choose. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Completes "expected …". */
export const LISTEN_FORM = 'HOST:PORT such as 127.0.0.1:8080 or "[::1]:8080" (port 0: any free one)';

export function listenAddress(text: string): Decoded<ListenAddress> {
  const [, host, bracketed, digits] =
    /^((?:[A-Za-z0-9._-]{1,253})|\[([0-9A-Fa-f:.]+)\]):([0-9]{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  const ok = host !== undefined && port <= 65_535 && (bracketed === undefined || isIPv6(bracketed));
  if (!ok) return { fault: `expected ${LISTEN_FORM}; got ${JSON.stringify(shortened(text))}` };
  return { value: { host: bracketed ?? host, port } };
}
