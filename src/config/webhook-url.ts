import { addressIn, isPublicAddress } from '../model/public-address.js';
import type { Decoded } from './field.js';

/** Characters of a webhook's URL, at most. */
export const LONGEST_WEBHOOK_URL = 2048;
/** Completes "expected …". */
export const WEBHOOK_URL_FORM = `an http or https URL of at most ${LONGEST_WEBHOOK_URL} characters, without user and password`;

/** A webhook's URL in its one spelling, without a fragment, which is never sent. */
export function webhookUrl(text: string): Decoded<string> {
  const url = text.length <= LONGEST_WEBHOOK_URL && URL.canParse(text) ? new URL(text) : undefined;
  const isFit = url !== undefined && ['http:', 'https:'].includes(url.protocol) && url.username + url.password === '';
  if (!isFit || url.href.length > LONGEST_WEBHOOK_URL) return { fault: `expected ${WEBHOOK_URL_FORM}` };
  url.hash = '';
  return { value: url.href };
}

/**
 * Whether a URL says by itself that it leads to no public address. What a name resolves to is seen, and refused, by whoever
 * connects to it.
 */
export function isPrivateUrl(href: string): boolean {
  const url = new URL(href);
  const address = addressIn(url);
  if (address !== undefined) return !isPublicAddress(address);
  // Names of loopback (RFC 6761), however they resolve.
  return /(^|\.)localhost\.?$/.test(url.hostname);
}
