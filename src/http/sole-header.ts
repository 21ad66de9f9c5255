import type { FastifyRequest } from 'fastify';
import { accepted, type Checked, refused } from './problems.js';

/**
 * A header that is given once, by its name in any case; `undefined` when it is absent or empty. Node joins several of
 * one name into one text, in which what a gateway wrote and what its client wrote cannot be told apart.
 */
export function soleHeader(request: Pick<FastifyRequest, 'raw'>, name: string): Checked<string | undefined> {
  const wanted = name.toLowerCase();
  const { rawHeaders } = request.raw;
  const values = rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === wanted);
  if (values.length <= 1) return accepted(values[0] === '' ? undefined : values[0]);
  return refused({ code: 'invalid_field', field: name, detail: `\`${name}\` is given more than once.` });
}
