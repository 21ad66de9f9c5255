import type { FastifyRequest } from 'fastify';
import { encodeTenant } from '../redis/keys.js';
import { parseJobId } from '../shaping/job-id.js';
import type { RemoteType } from '../shaping/remote-type.js';
import type { RemoteTypes } from '../shaping/remote-work.js';
import type { Held } from '../shaping/work-source.js';
import { workerKeyOf } from './first-look.js';
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
  return `${workerKeyOf(request).slice(0, 12)}#${claim}`;
}

/** A type that workers elsewhere serve, by the name that `field` gives. */
export function remoteType(remote: RemoteTypes, name: string, field: string): Checked<RemoteType> {
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
  const type = remoteType(remote, name, `${place}id`);
  if (!type.ok) return type;
  const held = { token: tokenOf(request, claim), tenant: encodeTenant(tenant), id };
  return accepted({ type: type.value, held });
}

/** Whoever hears it lays the job down: nothing that he says of it counts any more. */
export const RUN_LOST: Problem = {
  code: 'run_lost',
  detail: 'The run is over: its lock ran out, its time was up, or it has been ended otherwise.',
};
