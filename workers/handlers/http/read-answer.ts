import type { IncomingMessage } from 'node:http';
import { Unrecoverable } from '../../handler.js';
import { EventData } from './event-data.js';

/** Characters of text in one chunk of output: even escaped, far from the most that a chunk may have. */
const CHUNK_CHARACTERS = 8192;

/** What an answer came to. */
export interface Answer {
  /** For the job: the JSON of the body, its text, or `{ events, last }` of a stream of events. */
  readonly result: unknown;
  /** The last cost that was found in it. */
  readonly cost: number | undefined;
}

/** Looks for a cost in a JSON value. */
type CostIn = (value: unknown) => number | undefined;
type Emit = (chunk: unknown) => Promise<void>;

/** Reads an answer by its content type, and hands on what streams while it comes. */
export async function readAnswer(
  response: IncomingMessage,
  maxBytes: number,
  emit: Emit,
  costIn: CostIn,
): Promise<Answer> {
  const type = (response.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  const texts = textOf(response, maxBytes);
  if (type === 'text/event-stream') return events(texts, emit, costIn);
  if (type.startsWith('text/') || type === 'application/x-ndjson')
    return { result: await text(texts, emit), cost: undefined };
  const body = await text(texts);
  if (body === '') return { result: null, cost: undefined };
  const value = parsed(body);
  if (value === undefined && /[/+]json$/.test(type))
    throw new Error('the upstream answered with JSON that cannot be read');
  return { result: value === undefined ? body : value, cost: costIn(value) };
}

async function* textOf(response: IncomingMessage, maxBytes: number): AsyncGenerator<string> {
  const encoding = response.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') throw new Unrecoverable('the upstream answered in an encoding that was not asked for');
  const decoder = new TextDecoder();
  let bytes = 0;
  for await (const chunk of response) {
    const piece: Buffer = Buffer.from(chunk);
    bytes += piece.length;
    if (bytes > maxBytes) throw new Unrecoverable(`the upstream answered with more than ${maxBytes} bytes`);
    yield decoder.decode(piece, { stream: true });
  }
  yield decoder.decode();
}

async function text(texts: AsyncIterable<string>, emit?: Emit): Promise<string> {
  const pieces: string[] = [];
  for await (const piece of texts) {
    pieces.push(piece);
    for (let at = 0; emit !== undefined && at < piece.length; at += CHUNK_CHARACTERS) {
      await emit(piece.slice(at, at + CHUNK_CHARACTERS));
    }
  }
  return pieces.join('');
}

async function events(texts: AsyncIterable<string>, emit: Emit, costIn: CostIn): Promise<Answer> {
  const stream = new EventData();
  let count = 0;
  let last: unknown = null;
  let cost: number | undefined;
  for await (const piece of texts) {
    for (const data of stream.take(piece)) {
      // The end mark of language model APIs: no part of the output.
      if (data === '[DONE]') continue;
      const value = parsed(data);
      last = typeof value === 'object' && value !== null ? value : data;
      cost = costIn(last) ?? cost;
      count += 1;
      await emit(last);
    }
  }
  return { result: { events: count, last }, cost };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
