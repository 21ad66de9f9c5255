import type { FastifyRequest } from 'fastify';
import { encodeTenant } from '../redis/keys.js';
import { parseJobId } from '../shaping/job-id.js';
import type { RemoteType } from '../shaping/remote-type.js';
import type { RemoteTypes } from '../shaping/remote-work.js';
import type { Held } from '../shaping/work-source.js';
import { workerOf } from './first-look.js';
import { nameHint } from './name-hint.js';
import { accepted, type Checked, type Problem, refused } from './problems.js';
import { shown } from './shown.js';
import type { RunReference } from './worker-requests.js';

/** A run that a worker speaks of, and its type. */
export interface NamedRun {
  readonly type: RemoteType;
  readonly held: Held;
}

/**
 * The token under which a claim stands in Redis. It begins with the key of its worker, so that nobody speaks of the runs of
 * another key, nor of those of a pool.
 */
export function tokenOf(request: FastifyRequest, claim: string): string {
  return `${workerOf(request).keyHash.slice(0, 12)}#${claim}`;
}

/** A type that workers elsewhere serve, and this one may, by the name that `field` gives. */
export function remoteType(
  remote: RemoteTypes,
  request: FastifyRequest,
  name: string,
  field: string,
): Checked<RemoteType> {
  const { types } = workerOf(request);
  // Whether there is such a type is none of its business.
  if (types !== null && !types.has(name)) {
    const detail = `This key is for jobs of ${nameList(types)}, and not of ${shown(name)}.`;
    return refused({ code: 'type_forbidden', field, detail });
  }
  const type = remote.type(name);
  if (type !== undefined) return accepted(type);
  const known = remote.names();
  const hint = known.length === 0 ? 'every type here has a handler.' : nameHint(name, known, 'such types');
  const detail = `There is no job type ${shown(name)} without a handler, for workers elsewhere: ${hint}`;
  return refused({ code: 'unknown_type', field, detail });
}

/** The run that a body names. It need not be there. */
export function namedRun(
  remote: RemoteTypes,
  request: FastifyRequest,
  { id, tenant, claim }: RunReference,
  place = '',
): Checked<NamedRun> {
  const name = parseJobId(id)?.type;
  if (name === undefined) {
    const field = `${place}id`;
    return refused({ code: 'invalid_field', field, detail: `\`${field}\` is not the id of a job.` });
  }
  const type = remoteType(remote, request, name, `${place}id`);
  if (!type.ok) return type;
  const held = { token: tokenOf(request, claim), tenant: encodeTenant(tenant), id };
  return accepted({ type: type.value, held });
}

function nameList(types: ReadonlySet<string>): string {
  return types.size === 0 ? 'no type' : [...types].join(', ');
}

/** Whoever hears it lays the job down: nothing that he says of it counts any more. */
export const RUN_LOST: Problem = {
  code: 'run_lost',
  detail: 'The run is over: its lock ran out, its time was up, or it has been ended otherwise.',
};
