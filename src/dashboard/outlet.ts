import { Readable } from 'node:stream';

/** What a page has not taken yet, in bytes. */
const MOST_UNREAD = 512 * 1024;

/**
 * Where the events of one page go. A page that takes less than it is told is not waited for: what it has not taken would
 * grow without bound. It is closed, comes back, and is told what there is then.
 */
export class Outlet {
  readonly stream: Readable;
  readonly #heartbeat: NodeJS.Timeout;

  /** @param heartbeatMs It is silent for at most so long. @param heartbeat What is said then. */
  constructor(heartbeatMs: number, heartbeat: string, mostUnread = MOST_UNREAD) {
    this.stream = new Readable({ highWaterMark: mostUnread, read: () => undefined });
    this.#heartbeat = setInterval(() => this.send(heartbeat), heartbeatMs);
    this.stream.once('close', () => clearInterval(this.#heartbeat));
  }

  send(text: string): void {
    this.#heartbeat.refresh();
    if (!this.stream.destroyed && !this.stream.readableEnded && !this.stream.push(text)) this.stream.destroy();
  }

  /** Ends it in good order. */
  end(): void {
    clearInterval(this.#heartbeat);
    if (!this.stream.destroyed) this.stream.push(null);
  }
}
