/** A reply of ioredis' `call` as rate-limit-redis wants it. */
export function asReply(reply: unknown): string | number | (string | number)[] {
  if (typeof reply === 'string' || typeof reply === 'number') return reply;
  if (Array.isArray(reply)) return reply.map(Number);
  throw new TypeError(`an unexpected reply: ${String(reply)}`);
}
