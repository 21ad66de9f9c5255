/** @import { Session } from '../pages.js' */
/** @import { LiveStream } from '../net/live-stream.js' */
import { h, nameOf, s, say, set } from '../dom/element.js';
import { switchTheme, theme } from '../dom/theme.js';
import { wallPath, waterPath } from '../pure/bucket-shape.js';
import { hashOf } from '../pure/route.js';

/** What is above every page: where to go, whether the page is live, light or dark, and the way out. */
export class TopBar {
  #live = h('span', { class: 'live' });
  #theme = h('button', { type: 'button', class: 'plain theme', onclick: () => this.#switch() });
  #who = h('span', { class: 'who muted' });
  #signedIn;
  #submit = h('a', { href: hashOf({ page: 'submit' }), class: 'button plain' }, 'Submit', h('span', {}, '\u00a0a job'));

  /** @param {HTMLElement} element @param {() => void} signOut */
  constructor(element, signOut) {
    const mark = s('svg', { viewBox: '0 0 80 96', width: 22, height: 26, 'aria-hidden': 'true' });
    mark.append(s('path', { class: 'water', d: waterPath(0.6) }), s('path', { class: 'walls', d: wallPath() }));
    const home = h(
      'a',
      { class: 'brand', href: hashOf({}), 'aria-label': 'Headgate, overview' },
      mark,
      h('span', {}, 'Headgate'),
    );
    const out = h('button', { type: 'button', class: 'plain', onclick: signOut }, 'Sign out');
    this.#signedIn = h('div', { class: 'signed-in' }, this.#live, this.#who, this.#submit, out);
    element.append(h('nav', { 'aria-label': 'Dashboard' }, home), this.#signedIn, this.#theme);
    this.#signedIn.hidden = true;
    this.#sayTheme();
  }

  /** @param {Session | null} session */
  show(session) {
    this.#signedIn.hidden = session === null;
    this.#who.replaceChildren(
      ...(session === null ? [] : session.role === 'admin' ? ['admin'] : [nameOf(session.tenant ?? '', 24)]),
    );
  }

  /** @param {LiveStream} stream */
  update({ connected, state }) {
    const live = connected && state.redisUp;
    say(this.#live, live ? 'live' : 'not live');
    set(this.#live, 'class', live ? 'live' : 'live off');
    set(this.#submit, 'href', hashOf({ page: 'submit', type: state.view.type }));
  }

  #switch() {
    switchTheme();
    this.#sayTheme();
  }

  #sayTheme() {
    const chosen = theme();
    const [sign = '', word = ''] = { auto: ['◐', 'Auto'], light: ['☀', 'Light'], dark: ['☾', 'Dark'] }[chosen] ?? [];
    this.#theme.replaceChildren(sign, h('span', {}, `\u00a0${word}`));
    this.#theme.setAttribute('aria-label', `Colours: ${chosen}. Switch`);
  }
}
