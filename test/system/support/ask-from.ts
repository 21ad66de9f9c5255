import { type IncomingHttpHeaders, request } from 'node:http';
import { text } from 'node:stream/consumers';

export interface Asked {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Asking {
  /** The client's address: any of 127.0.0.0/8 is one of this machine. */
  readonly from: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** One request over a connection of its own, from an address of the caller's choice. */
export function askFrom(url: string, { from, method = 'GET', headers = {}, body }: Asking): Promise<Asked> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, localAddress: from, agent: false }, (answer) => {
      const status = answer.statusCode ?? 0;
      text(answer).then((all) => resolve({ status, headers: answer.headers, body: all }), reject);
    });
    sent.once('error', reject).end(body);
  });
}
