/** One message of an event stream, as the HTML standard has it. JSON has no line breaks. */
export function eventText(event: string, data: unknown, id?: string): string {
  return `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
}

/** A message with `data` that is JSON text already. */
export function outputText(id: string, run: number, chunk: string): string {
  return `event: output\nid: ${id}\ndata: {"run":${run},"chunk":${chunk}}\n\n`;
}

/** A comment, which keeps the connection from looking dead to those it passes through. */
export const HEARTBEAT = ':\n\n';

/** How long a client waits before it comes back, in milliseconds. */
export function retryText(ms: number): string {
  return `retry: ${ms}\n\n`;
}
