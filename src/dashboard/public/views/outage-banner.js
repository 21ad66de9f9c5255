/** @import { LiveStream } from '../net/live-stream.js' */
import { say } from '../dom/element.js';

/** A break as short as this is not worth a word. */
const SILENT_MS = 400;
const BACK_SHOWN_MS = 4000;

/** Says that what is shown is old, and why, and when it is not any more. */
export class OutageBanner {
  #element;
  #lostAt = 0;
  #shown = false;
  #backAt = 0;

  /** @param {HTMLElement} element */
  constructor(element) {
    this.#element = element;
  }

  /** @param {LiveStream} stream of somebody who is signed in */
  update(stream) {
    const now = performance.now();
    const away = reason(stream);
    if (away === '') return this.#back(now);
    this.#backAt = 0;
    if (this.#lostAt === 0) this.#lostAt = now;
    if (now - this.#lostAt < SILENT_MS) return;
    this.#shown = true;
    this.#show('away', away);
  }

  hide() {
    this.#lostAt = 0;
    this.#shown = false;
    this.#element.hidden = true;
  }

  /** @param {number} now */
  #back(now) {
    this.#lostAt = 0;
    if (this.#shown) {
      this.#shown = false;
      this.#backAt = now;
      this.#show('back', 'Back again: what is shown is live.');
    } else if (this.#backAt !== 0 && now - this.#backAt > BACK_SHOWN_MS) {
      this.#backAt = 0;
      this.#element.hidden = true;
    }
  }

  /** @param {string} kind @param {string} text */
  #show(kind, text) {
    this.#element.hidden = false;
    this.#element.className = `banner ${kind}`;
    say(this.#element, text);
  }
}

/** @param {LiveStream} stream */
function reason({ connected, heard, state }) {
  if (!connected) return heard ? 'The server is away. What is shown is as it was; trying again …' : '';
  return state.redisUp ? '' : 'Redis is away. What is shown is as it was; it goes on by itself.';
}
