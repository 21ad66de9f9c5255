import { type IncomingMessage, request as plain } from 'node:http';
import { request as secure } from 'node:https';
import type { HttpOptions } from '../../../src/config/http-options.js';
import { addressIn, isPublicAddress } from '../../../src/model/public-address.js';
import { PrivateAddressError, publicLookup } from './public-address.js';

/**
 * Sends a body and resolves with the answer once its head is there. Follows no redirect, uses no proxy, and opens a
 * connection of its own, so that none is shared by types that allow different addresses.
 *
 * @throws PrivateAddressError Before anything is sent, where the type allows public addresses alone.
 */
export function send(
  options: Pick<HttpOptions, 'url' | 'method' | 'headers' | 'allowPrivate'>,
  body: string,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const { url, method, allowPrivate } = options;
  // An address is connected to without a lookup.
  const address = addressIn(url);
  if (!allowPrivate && address !== undefined && !isPublicAddress(address))
    return Promise.reject(new PrivateAddressError());
  return new Promise((resolve, reject) => {
    const headers = { ...options.headers, 'accept-encoding': 'identity', 'content-length': Buffer.byteLength(body) };
    const guard = allowPrivate ? {} : { lookup: publicLookup };
    const request = (url.protocol === 'https:' ? secure : plain)(url, {
      method,
      headers,
      signal,
      agent: false,
      ...guard,
    });
    request.once('response', resolve).on('error', reject).end(body);
  });
}
