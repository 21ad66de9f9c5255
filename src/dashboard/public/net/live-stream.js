/** @import { StreamState, View } from '../pure/stream-state.js' */
import { reconnectAfterMs } from '../pure/reconnect-after.js';
import { applyEvent, emptyState, openView } from '../pure/stream-state.js';
import { ask, path } from './api.js';
import { hearTime } from './server-clock.js';

const EVENTS = ['hello', 'overview', 'history', 'point', 'buckets', 'summary', 'tenant', 'redis'];
/** Heartbeats come every 15 s and are not told to pages; of a busy stream silence means a dead connection. */
const OPEN_WITHIN_MS = 8000;

/**
 * The one stream of the page. It asks for what is looked at, comes back by itself when it breaks, and tells its listener
 * whenever something is known anew, at most once a frame.
 */
export class LiveStream {
  /** @type {StreamState} */
  state = emptyState();
  /** Whether the server is heard. */
  connected = false;
  /** Whether it ever was, since the page was opened or somebody signed in. */
  heard = false;
  /** When the next attempt is made, by `Date.now`; null while connected or trying. @type {number | null} */
  retryAt = null;
  /** @type {EventSource | null} */
  #source = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #failures = 0;
  #told = false;
  #changed;

  #signedOut;

  /** @param {() => void} changed @param {() => void} signedOut the session has ended */
  constructor(changed, signedOut) {
    this.#changed = changed;
    this.#signedOut = signedOut;
    addEventListener('online', () => this.retryNow());
  }

  /** Looks at something else. @param {View} view */
  look(view) {
    if (this.#source !== null && JSON.stringify(view) === JSON.stringify(this.state.view)) return;
    this.state = openView(this.state, view);
    this.#open();
  }

  /** Tries at once, if the connection is lost. */
  retryNow() {
    if (this.retryAt !== null) this.#open();
  }

  /** Hears nothing any more and forgets what it knew. */
  close() {
    this.#stop();
    this.retryAt = null;
    this.connected = false;
    this.heard = false;
    this.#failures = 0;
    this.state = emptyState();
  }

  #stop() {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = null;
  }

  #open() {
    this.#stop();
    this.retryAt = null;
    const { type, q, sort, from, count, tenant } = this.state.view;
    const source = new EventSource(path(['dashboard', 'stream'], { type, q, sort, from, count, tenant: tenant ?? '' }));
    this.#source = source;
    this.#timer = setTimeout(() => this.#lost(), OPEN_WITHIN_MS);
    for (const name of EVENTS) source.addEventListener(name, (event) => this.#hear(name, event));
    source.addEventListener('error', () => this.#lost());
  }

  /** @param {string} name @param {MessageEvent<string>} event */
  #hear(name, event) {
    clearTimeout(this.#timer);
    this.#failures = 0;
    this.connected = true;
    this.heard = true;
    const data = JSON.parse(event.data);
    if (typeof data.at === 'string') hearTime(data.at);
    this.state = applyEvent(this.state, name, data);
    this.#tell();
  }

  #lost() {
    this.#stop();
    this.connected = false;
    this.#failures += 1;
    const afterMs = reconnectAfterMs(this.#failures, Math.random());
    this.retryAt = Date.now() + afterMs;
    this.#timer = setTimeout(() => this.#again(), afterMs);
    this.#tell();
  }

  /** A stream does not say why it was refused; a session that has ended would be tried for ever. */
  async #again() {
    const session = await ask('GET', '/dashboard/session').catch(() => undefined);
    if (session?.role === null) return this.#signedOut();
    if (this.retryAt !== null) this.#open();
  }

  #tell() {
    if (this.#told) return;
    this.#told = true;
    const tell = () => {
      this.#told = false;
      this.#changed();
    };
    // A page that nobody sees gets no frames, and shall still know whether it is connected.
    if (document.hidden) setTimeout(tell, 1000);
    else requestAnimationFrame(tell);
  }
}
