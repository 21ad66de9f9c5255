import { Type } from 'typebox';
import { schemaCheck } from '../http/body-checks.js';
import type { PageParts } from '../http/browser-page.js';
import { fromSameOrigin } from '../http/cross-site.js';
import type { HttpApp } from '../http/http-app.js';
import { checkHash } from '../http/key-check.js';
import { hashKey, type Principal } from '../http/keyring.js';
import { replyProblem } from '../http/reply-problem.js';
import { NoQuery } from '../http/request-schemas.js';
import { sessionCookie, tokenOf } from '../http/sessions.js';
import { type RedisSessions, SESSION_MS } from './session-store.js';

const SignIn = Type.Object(
  { key: Type.String({ minLength: 1, maxLength: 256, description: 'the key of an admin or of a tenant' }) },
  { additionalProperties: false, description: 'an object' },
);
const signInBody = schemaCheck(SignIn, 'body');

/** No error: a browser would write one to its console at everybody's first visit. */
const NOBODY = { role: null } as const;
const ROUTE = '/dashboard/session';

/** `/dashboard/session`: sign in by a key, ask who is signed in, sign out. */
export function sessionRoutes(app: HttpApp, { keys, sessions }: PageParts, store: RedisSessions): void {
  const schema = { hide: true, querystring: NoQuery };
  app.post(ROUTE, { schema }, async (request, reply) => {
    const sent = fromSameOrigin(request);
    if (!sent.ok) return replyProblem(reply, sent.problem);
    const body = signInBody(request.body, []);
    if (!body.ok) return replyProblem(reply, body.problem);
    const hash = hashKey(body.value.key);
    const principal = await checkHash(keys, hash, request.ip);
    if (!principal.ok) return replyProblem(reply, { ...principal.problem, field: 'key' });
    const token = await store.open(hash);
    reply.header('set-cookie', sessionCookie(token, SESSION_MS, request.protocol === 'https'));
    return reply.code(200).send(shownPrincipal(principal.value));
  });
  app.get(ROUTE, { schema, exposeHeadRoute: false }, async (request, reply) => {
    const token = tokenOf(request);
    if (token === undefined) return reply.code(200).send(NOBODY);
    const principal = await sessions.principal(request, token);
    if (!principal.ok && principal.problem.code === 'session_over') return reply.code(200).send(NOBODY);
    if (!principal.ok) return replyProblem(reply, principal.problem);
    return reply.code(200).send(shownPrincipal(principal.value));
  });
  app.delete(ROUTE, { schema }, async (request, reply) => {
    const token = tokenOf(request);
    if (token !== undefined) {
      const principal = await sessions.principal(request, token);
      if (!principal.ok && principal.problem.code !== 'session_over') return replyProblem(reply, principal.problem);
      if (principal.ok) await store.close(token);
    }
    reply.header('set-cookie', sessionCookie('', 0, request.protocol === 'https'));
    return reply.code(204).send(null);
  });
}

/** Who is signed in, as the page is told. */
export function shownPrincipal(principal: Principal): { readonly role: 'admin' | 'tenant'; readonly tenant?: string } {
  return principal.kind === 'admin' ? { role: 'admin' } : { role: 'tenant', tenant: principal.tenant };
}
