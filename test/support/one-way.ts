import type { Socket } from 'node:net';

/** One direction of a connection: what comes in goes out in its order, at once, later, or not before it flows again. */
export class OneWay {
  readonly #to: Socket;
  readonly #kept: { readonly bytes: Buffer; readonly dueAt: number }[] = [];
  #flowing = true;
  #delayMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(to: Socket) {
    this.#to = to;
  }

  /** Whether anything goes out; what came in meanwhile follows. */
  set flowing(flowing: boolean) {
    this.#flowing = flowing;
    this.#pump();
  }

  /** For what comes in from now on. */
  set delayMs(delayMs: number) {
    this.#delayMs = delayMs;
  }

  carry(bytes: Buffer): void {
    this.#kept.push({ bytes, dueAt: performance.now() + this.#delayMs });
    this.#pump();
  }

  /** Nothing goes out any more. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#kept.length = 0;
  }

  #pump(): void {
    clearTimeout(this.#timer);
    for (let next = this.#kept[0]; this.#flowing && next !== undefined; next = this.#kept[0]) {
      const waitMs = next.dueAt - performance.now();
      if (waitMs > 0) {
        this.#timer = setTimeout(() => this.#pump(), Math.ceil(waitMs));
        return;
      }
      this.#kept.shift();
      if (this.#to.writable) this.#to.write(next.bytes);
    }
  }
}
