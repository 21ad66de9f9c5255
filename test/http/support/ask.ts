import { type Agent, type IncomingHttpHeaders, type RequestOptions, request } from 'node:http';
import { text } from 'node:stream/consumers';

/** One request as it goes over the wire, by whatever method. */
export interface ApiRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface AskOptions {
  readonly agent?: Agent;
  /** Once this says so of status and headers, the body is not waited for and the connection is left. */
  readonly leave?: (answer: Omit<ApiAnswer, 'body'>) => boolean;
  readonly signal?: AbortSignal;
}

/** Sends a request to an API at `base` and resolves with the whole answer. */
export async function ask(
  base: string,
  { method, url, headers, body }: ApiRequest,
  { agent, leave, signal }: AskOptions = {},
): Promise<ApiAnswer> {
  const { hostname, port } = new URL(base);
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const options: RequestOptions = { hostname, port, path: url, method, headers: { ...headers, ...length } };
  return new Promise((resolve, reject) => {
    const sent = request({ ...options, ...(agent && { agent }), ...(signal && { signal }) }, (response) => {
      const head = { status: response.statusCode ?? 0, headers: response.headers };
      if (leave?.(head) === true) {
        sent.destroy();
        return resolve({ ...head, body: '' });
      }
      text(response).then((all) => resolve({ ...head, body: all }), reject);
    });
    sent.once('error', reject);
    sent.end(body);
  });
}
