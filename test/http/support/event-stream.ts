/** One message of an event stream. */
export interface Message {
  readonly event: string;
  readonly id?: string;
  readonly data: Record<string, unknown>;
}

/** An event stream as a browser reads it. */
export class EventStream {
  readonly response: Response;
  readonly messages: Message[] = [];
  comments = 0;
  retryMs: number | undefined;
  readonly #abort: AbortController;
  readonly ended: Promise<void>;

  private constructor(response: Response, abort: AbortController) {
    this.response = response;
    this.#abort = abort;
    this.ended = response.status === 200 ? this.#read().catch(() => undefined) : Promise.resolve();
  }

  static async open(url: string, key: string, lastEventId?: string): Promise<EventStream> {
    const more = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
    return EventStream.openWith(url, { authorization: `Bearer ${key}`, ...more });
  }

  static async openWith(url: string, headers: Readonly<Record<string, string>>): Promise<EventStream> {
    const abort = new AbortController();
    return new EventStream(await fetch(url, { headers, signal: abort.signal }), abort);
  }

  /** What was told under this name so far. */
  data(event: string): Record<string, unknown>[] {
    return this.messages.filter((message) => message.event === event).map(({ data }) => data);
  }

  /** The names of all messages so far. */
  get events(): string[] {
    return this.messages.map(({ event }) => event);
  }

  leave(): void {
    this.#abort.abort();
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder();
    let text = '';
    for await (const bytes of this.response.body ?? []) {
      text += decoder.decode(bytes, { stream: true });
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) this.#take(block);
    }
  }

  #take(block: string): void {
    const fields = new Map(block.split('\n').map((line) => line.split(/: ?(.*)/s) as [string, string]));
    const [event, data, id, retry] = ['event', 'data', 'id', 'retry'].map((name) => fields.get(name));
    if (retry !== undefined) this.retryMs = Number(retry);
    else if (event === undefined || data === undefined) this.comments += 1;
    else this.messages.push({ event, data: JSON.parse(data), ...(id !== undefined && { id }) });
  }
}
