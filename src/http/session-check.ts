import type { FastifyRequest } from 'fastify';
import { clientAddress } from '../policing/client-address.js';
import { sentByPage } from './cross-site.js';
import { FailedAttempts } from './failed-attempts.js';
import { holderOfKept, type KeyParts, tooMany } from './key-check.js';
import type { Principal } from './keyring.js';
import { accepted, type Checked, refused } from './problems.js';
import type { Sessions } from './sessions.js';

/**
 * On whose behalf browsers ask that show the cookie of a session. Whose key was revoked is signed out. Wrong cookies are
 * counted like wrong keys, but apart from them: one that is out of date is no reason not to let its owner sign in.
 */
export class SessionCheck {
  readonly #sessions: Sessions;
  readonly #keys: Pick<KeyParts, 'keyring' | 'directory'>;
  readonly #failures = new FailedAttempts();

  constructor(sessions: Sessions, keys: Pick<KeyParts, 'keyring' | 'directory'>) {
    this.#sessions = sessions;
    this.#keys = keys;
  }

  /** Of a request with this token. */
  async principal(request: FastifyRequest, token: string): Promise<Checked<Principal>> {
    const sent = sentByPage(request);
    if (!sent.ok) return sent;
    const address = clientAddress(request.ip) ?? '';
    const waitMs = this.#sessions.remembers(token) ? 0 : this.#failures.waitMs(address);
    if (waitMs > 0) return refused(tooMany('Cookie', waitMs));
    const principal = await this.holder(token);
    if (principal !== undefined) return accepted(principal);
    this.#failures.failed(address);
    return refused({ code: 'session_over', field: 'Cookie', detail: 'The session is over: sign in again.' });
  }

  /** Who is signed in by this token; `undefined` when nobody is any more. */
  async holder(token: string): Promise<Principal | undefined> {
    const hash = await this.#sessions.find(token);
    return hash === undefined ? undefined : holderOfKept(this.#keys, hash);
  }
}
