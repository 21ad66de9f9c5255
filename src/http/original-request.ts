import type { FastifyRequest } from 'fastify';
import { accepted, type Checked, refused } from './problems.js';
import { soleHeader } from './sole-header.js';

/** The request that a gateway asks about. */
export interface OriginalRequest {
  readonly method: string;
  /** Path and query as they were sent. */
  readonly uri: string;
}

/** How gateways tell it: Traefik and Caddy by themselves, nginx as its configuration says. */
const SPELLINGS = [
  { method: 'X-Forwarded-Method', uri: 'X-Forwarded-Uri' },
  { method: 'X-Original-Method', uri: 'X-Original-URI' },
] as const;

/**
 * The original request, by whichever two headers the gateway sends. Clients can send the other two through a gateway
 * that leaves them in place: where both are there and differ, nobody knows which to believe.
 */
export function originalRequest(request: Pick<FastifyRequest, 'raw'>): Checked<OriginalRequest> {
  const told: OriginalRequest[] = [];
  for (const names of SPELLINGS) {
    const method = soleHeader(request, names.method);
    if (!method.ok) return method;
    const uri = soleHeader(request, names.uri);
    if (!uri.ok) return uri;
    if (method.value !== undefined && uri.value !== undefined) told.push({ method: method.value, uri: uri.value });
  }
  const [original, other] = told;
  if (original === undefined) {
    const [forwarded, by] = SPELLINGS;
    const detail = `Name a policy in \`policy\`, or send \`${forwarded.method}\` and \`${forwarded.uri}\`, or \`${by.method}\` and \`${by.uri}\`.`;
    return refused({ code: 'missing_field', field: 'policy', detail });
  }
  if (other === undefined || (other.method === original.method && other.uri === original.uri))
    return accepted(original);
  const [, { uri: field }] = SPELLINGS;
  const detail = `\`${field}\` and \`${SPELLINGS[0].uri}\`, with their methods, tell of different requests: have the gateway remove the two that it does not set.`;
  return refused({ code: 'invalid_field', field, detail });
}
