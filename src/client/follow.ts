import { HeadgateError } from './headgate-error.js';
import { type JobEvent, jobEventOf } from './job-event.js';
import { type Message, MessageReader } from './message-reader.js';
import type { Patience } from './patience.js';
import { errorOf, type Prepared, type Request, type Transport } from './transport.js';

/** A comment comes every 15 seconds: a stream that is silent for so long is none any more. */
const SILENT_MS = 45_000;

/**
 * The events of a job until its end. A stream that breaks off is opened again behind what was heard (`Last-Event-ID`), as
 * often in a row as a request is repeated.
 */
export async function* follow<Result>(
  transport: Transport,
  request: Request,
  patience: Patience,
  heard = '',
): AsyncGenerator<JobEvent<Result>, void, undefined> {
  let [position, retryMs, failures] = [heard, 0, 0];
  for (;;) {
    patience.throwIfOver();
    const reader = new MessageReader(position);
    const prepared = transport.prepare(withPosition(request, position));
    let error = new HeadgateError('the stream ended before the job did', { code: 'network_error' });
    try {
      for await (const message of messagesOf(transport, prepared, patience, reader)) {
        failures = 0;
        position = message.id;
        const event = jobEventOf<Result>(message);
        if (event !== undefined) yield event;
        if (event?.event === 'end') return;
      }
    } catch (thrown) {
      error = errorOf(thrown);
    }
    // The server says 204 to who has heard everything.
    if (position === 'end') return;
    patience.throwIfOver(undefined, error);
    retryMs = reader.retryMs ?? retryMs;
    await transport.waitToRepeat(error, failures, patience, retryMs);
    failures += 1;
  }
}

function withPosition(request: Request, position: string): Request {
  return position === '' ? request : { ...request, headers: { ...request.headers, 'last-event-id': position } };
}

async function* messagesOf(
  transport: Transport,
  request: Prepared,
  patience: Patience,
  reader: MessageReader,
): AsyncGenerator<Message> {
  const over = new AbortController();
  let silence = setTimeout(() => over.abort(), transport.requestTimeoutMs);
  try {
    const signal = AbortSignal.any([over.signal, patience.signal()]);
    const response = await transport.open(request, signal);
    const decoder = new TextDecoder();
    for await (const bytes of response.body ?? []) {
      clearTimeout(silence);
      // Whoever takes his time with an event is not the server's silence.
      yield* reader.read(decoder.decode(bytes, { stream: true }));
      silence = setTimeout(() => over.abort(), SILENT_MS);
    }
  } finally {
    clearTimeout(silence);
    over.abort();
  }
}
