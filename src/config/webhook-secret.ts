import { randomBytes } from 'node:crypto';
import { fromEnvironment } from './api-key.js';
import type { Decoded } from './field.js';

/** Standard Webhooks asks for 24 to 64 bytes. */
const [LEAST_BYTES, MOST_BYTES, NEW_BYTES] = [24, 64, 32];
const PREFIX = 'whsec_';

/** Completes "expected …". */
export const SECRET_FORM = `${PREFIX} and the Base64 of ${LEAST_BYTES} to ${MOST_BYTES} random bytes, or env:NAME`;

/** A secret to sign webhooks with, as it is written: itself, or `env:NAME`. A fault never repeats it. */
export function webhookSecret(text: string, variables: NodeJS.ProcessEnv): Decoded<string> {
  return fromEnvironment(text, variables, checkedSecret);
}

/** A new secret, of random bytes. */
export function newWebhookSecret(): string {
  return PREFIX + randomBytes(NEW_BYTES).toString('base64');
}

function checkedSecret(secret: string, prefix: string): Decoded<string> {
  const bytes = Buffer.from(secret.slice(PREFIX.length), 'base64');
  const isWhole = secret === PREFIX + bytes.toString('base64');
  if (isWhole && bytes.length >= LEAST_BYTES && bytes.length <= MOST_BYTES) return { value: secret };
  return { fault: `${prefix}expected ${SECRET_FORM}` };
}
