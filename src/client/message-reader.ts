/** One message of an event stream. */
export interface Message {
  readonly event: string;
  readonly data: string;
  /** The id that the stream has reached with it; '' before the first. */
  readonly id: string;
}

/** Reads an event stream as the HTML standard has it, however its text is cut into pieces. */
export class MessageReader {
  /** How long to wait before coming back, where the stream said so. */
  retryMs: number | undefined;
  #rest = '';
  #event = '';
  #data: string[] = [];
  #id: string;

  /** @param id The last id that is known from before. */
  constructor(id = '') {
    this.#id = id;
  }

  /** The messages that `text` completes. */
  read(text: string): Message[] {
    // A carriage return at the end may be half of a line's end.
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? '';
    return lines.flatMap((line) => this.#take(line) ?? []);
  }

  #take(line: string): Message | undefined {
    if (line === '') return this.#end();
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'event') this.#event = value;
    else if (name === 'data') this.#data.push(value);
    else if (name === 'id' && !value.includes('\0')) this.#id = value;
    else if (name === 'retry' && /^\d+$/.test(value)) this.retryMs = Number(value);
    return undefined;
  }

  #end(): Message | undefined {
    const message = { event: this.#event || 'message', data: this.#data.join('\n'), id: this.#id };
    const isEmpty = this.#data.length === 0;
    this.#event = '';
    this.#data = [];
    return isEmpty ? undefined : message;
  }
}
