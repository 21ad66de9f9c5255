import type { FastifyRequest } from 'fastify';

/** Sessions of browsers, which show a cookie in place of a key. */
export interface Sessions {
  /** True for a token that was one when it was last looked up: to ask for it again costs next to nothing. */
  remembers(token: string): boolean;
  /**
   * The hash of the key by which the session of this token was opened; `undefined` when there is no such session. Throws
   * RedisUnavailable when that is not known and Redis did not answer.
   */
  find(token: string): Promise<string | undefined>;
}

export const SESSION_COOKIE = 'headgate_session';

/** A hash of a key and a secret: what {@link Sessions} hands out. */
const TOKEN = new RegExp(`(?:^|;) *${SESSION_COOKIE}=([0-9a-f]{64}\\.[\\w-]{43})(?:;|$)`);

/** The token in a `Cookie` header; `undefined` when there is none. */
export function sessionToken(cookie: string | undefined): string | undefined {
  return TOKEN.exec(cookie ?? '')?.[1];
}

/** The `Set-Cookie` that a browser keeps a token by for so long; 0 to forget it. */
export function sessionCookie(token: string, maxAgeMs: number, secure: boolean): string {
  const age = Math.floor(maxAgeMs / 1000);
  return `${SESSION_COOKIE}=${token}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`;
}

/** A request of a browser that is signed in: it shows no key, but a cookie. */
export function tokenOf({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined {
  return headers.authorization === undefined ? sessionToken(headers.cookie) : undefined;
}
