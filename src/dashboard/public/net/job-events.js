import { reconnectAfterMs } from '../pure/reconnect-after.js';

const EVENTS = ['state', 'promise', 'progress', 'output', 'end'];

/** What happens to one job, until it has ended. It goes on by itself where the connection was lost. */
export class JobEvents {
  /** @type {EventSource | null} */
  #source = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #failures = 0;
  #address;
  #hear;

  /** @param {string} address @param {(name: string, data: any) => void} hear */
  constructor(address, hear) {
    this.#address = address;
    this.#hear = hear;
    this.follow();
  }

  close() {
    clearTimeout(this.#timer);
    this.#source?.close();
  }

  /** From now on, also where it had ended. */
  follow() {
    this.close();
    const source = new EventSource(this.#address);
    this.#source = source;
    for (const name of EVENTS) {
      source.addEventListener(name, (event) => {
        this.#failures = 0;
        if (name === 'end') this.close();
        this.#hear(name, JSON.parse(event.data));
      });
    }
    source.addEventListener('error', () => {
      // Otherwise the browser comes back by itself, and says what it had last.
      if (source.readyState !== EventSource.CLOSED) return;
      this.#failures += 1;
      this.#timer = setTimeout(() => this.follow(), reconnectAfterMs(this.#failures, Math.random()));
    });
  }
}
