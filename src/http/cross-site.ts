import type { FastifyRequest } from 'fastify';
import { accepted, type Checked, refused } from './problems.js';

/** What only a page of ours can send: another site's would have to be allowed to by us first. */
export const PAGE_HEADER = 'X-Headgate-Page';

type Asked = Pick<FastifyRequest, 'headers' | 'method' | 'host'>;

/**
 * Whether a request by cookie is one that a page of ours meant to send: browsers send the cookie along whoever asks. What
 * changes nothing may come from anywhere; nobody but us can read the answer.
 */
export function sentByPage(request: Asked): Checked<true> {
  if (request.method === 'GET' || request.method === 'HEAD') return accepted(true);
  if (request.headers[PAGE_HEADER.toLowerCase()] !== '1') {
    const detail = `With a cookie instead of a key, \`${PAGE_HEADER}: 1\` has to be sent along.`;
    return refused({ code: 'cross_site', field: PAGE_HEADER, detail });
  }
  return fromSameOrigin(request);
}

/** Whether a browser says, where it says anything, that the request comes from a page of this very origin. */
export function fromSameOrigin({ headers, host }: Pick<Asked, 'headers' | 'host'>): Checked<true> {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') return crossSite('Sec-Fetch-Site');
  const { origin } = headers;
  // Only the name is compared: whether there is TLS in front of us we may not know.
  return origin === undefined || hostOf(origin) === host.toLowerCase() ? accepted(true) : crossSite('Origin');
}

function crossSite(field: string): Checked<never> {
  return refused({ code: 'cross_site', field, detail: 'The request was sent by a page of another site.' });
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
