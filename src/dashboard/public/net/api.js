/** What a request was answered when it was not granted. */
export class Refused extends Error {
  /** @param {number} status 0 when nobody answered @param {{ code?: string, title?: string, detail?: string, field?: string }} problem */
  constructor(status, problem) {
    super(problem.detail ?? problem.title ?? `answered with ${status}`);
    this.status = status;
    this.code = problem.code ?? '';
    this.field = problem.field ?? '';
  }
}

/** Told when an answer says that nobody is signed in. */
let signedOut = () => {};

/** @param {() => void} listener */
export function onSignedOut(listener) {
  signedOut = listener;
}

/**
 * Asks the server. The session's cookie goes along by itself.
 *
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 * @returns {Promise<any>} the body of the answer, `null` when there is none
 * @throws {Refused} when it is not granted, or nobody answers
 */
export async function ask(method, path, body) {
  const headers = { 'X-Headgate-Page': '1', ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) };
  const response = await fetch(path, {
    method,
    headers,
    credentials: 'same-origin',
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch(() => {
    throw new Refused(0, { title: 'The server does not answer' });
  });
  const answer = await bodyOf(response);
  if (response.ok) return answer;
  if (response.status === 401) signedOut();
  throw new Refused(response.status, answer ?? {});
}

/**
 * A path with names in it, and a query; what is empty is left out of the query.
 *
 * @param {string[]} names
 * @param {Record<string, string | number>} [query]
 */
export function path(names, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== '');
  const asked = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `/${names.map(encodeURIComponent).join('/')}${asked === '' ? '' : `?${asked}`}`;
}

/** @param {Response} response */
async function bodyOf(response) {
  const text = await response.text();
  try {
    return text === '' ? null : JSON.parse(text);
  } catch {
    return null;
  }
}
