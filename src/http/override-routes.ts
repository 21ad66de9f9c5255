import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { OverrideSubject } from '../config/override-subject.js';
import type { Administration } from '../shaping/administration.js';
import { adminOnly, noBody } from './admin-only.js';
import { changeOverride, clearOverrides, OVERRIDE_BYTES, overrideBody } from './change-override.js';
import type { HttpApp } from './http-app.js';
import type { Checked } from './problems.js';
import { replyProblem } from './reply-problem.js';
import { NoQuery, PROBLEM_ANSWERS } from './request-schemas.js';

/** One kind of thing whose fields can be overridden. */
export interface Overridable {
  readonly kind: OverrideSubject['kind'];
  /** Its address, which ends in the parameter that names it. */
  readonly url: string;
  readonly answer: Type.TSchema;
  /** The name in the address, if there is such a thing. */
  readonly find: (name: string) => Checked<string>;
  /** What an administrator is shown of it. */
  readonly resource: (name: string) => Promise<object> | object;
  /** What DELETE does beside clearing its overrides, and adds to the answer. */
  readonly onDelete?: {
    readonly answer: Type.TSchema;
    readonly act: (name: string, log: FastifyBaseLogger) => Promise<object>;
  };
}

/** `GET`, `PUT`, `PATCH` and `DELETE` of one kind of thing: what holds, and what overrides the file. */
export function overrideRoutes(app: HttpApp, admin: Administration, thing: Overridable): void {
  const { url, kind, resource } = thing;
  const schema = {
    params: Type.Object({ [parameterName(thing)]: Type.String({ description: `which ${kind}` }) }),
    querystring: NoQuery,
    response: { 200: thing.answer, ...PROBLEM_ANSWERS },
  };
  const withBody = { bodyLimit: OVERRIDE_BYTES, schema: { ...schema, body: overrideBody(kind) } };

  app.get(url, { schema }, async (request, reply) => {
    const name = nameIn(request, thing);
    return name.ok ? reply.code(200).send(await resource(name.value)) : replyProblem(reply, name.problem);
  });
  const change = (replace: boolean) => async (request: FastifyRequest, reply: FastifyReply) => {
    const name = nameIn(request, thing);
    if (!name.ok) return replyProblem(reply, name.problem);
    const changed = await changeOverride(admin, { kind, name: name.value }, request.body, replace);
    if (!changed.ok) return replyProblem(reply, changed.problem);
    return reply.code(200).send({ ...(await resource(name.value)), ...changed.value });
  };
  app.put(url, withBody, change(true));
  app.patch(url, withBody, change(false));
  const { onDelete } = thing;
  const deleted = { ...schema.response, ...(onDelete && { 200: onDelete.answer }) };
  app.delete(url, { schema: { ...schema, response: deleted } }, async (request, reply) => {
    const name = nameIn(request, thing);
    if (!name.ok) return replyProblem(reply, name.problem);
    const empty = noBody(request.body);
    if (!empty.ok) return replyProblem(reply, empty.problem);
    const more = await onDelete?.act(name.value, request.log);
    const retimed = await clearOverrides(admin, { kind, name: name.value });
    return reply.code(200).send({ ...(await resource(name.value)), retimed, ...more });
  });
}

/** The one parameter in the address. */
function parameterName({ url }: Pick<Overridable, 'url'>): string {
  return url.slice(url.lastIndexOf(':') + 1);
}

function nameIn(request: FastifyRequest, thing: Overridable): Checked<string> {
  const admin = adminOnly(request);
  if (!admin.ok) return admin;
  return thing.find(parameterOf(request, parameterName(thing)));
}

/** A parameter of the path, decoded. */
export function parameterOf(request: FastifyRequest, name: string): string {
  return String(Reflect.get(Object(request.params), name));
}
