import { get } from 'node:http';

/** A page of the dashboard, as far as the server knows: it reads what it is told and does nothing with it. */
export interface Page {
  /** Bytes that it has been told so far. */
  readonly bytes: number;
  leave(): void;
}

/** Opens one, with the key of an admin. */
export async function openPage(url: string, key: string): Promise<Page> {
  let bytes = 0;
  return new Promise((resolve, reject) => {
    const asked = get(`${url}/dashboard/stream`, { headers: { authorization: `Bearer ${key}` } }, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`the stream was answered ${response.statusCode}`));
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      response.on('error', () => undefined);
      resolve({
        get bytes() {
          return bytes;
        },
        leave: () => asked.destroy(),
      });
    });
    asked.on('error', reject);
  });
}
