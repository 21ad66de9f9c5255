/** @import { Page, Session } from './pages.js' */

import { restoreTheme } from './dom/theme.js';
import { onTick } from './dom/ticker.js';
import { ask, onSignedOut, Refused } from './net/api.js';
import { LiveStream } from './net/live-stream.js';
import { openPage } from './pages.js';
import { reconnectAfterMs } from './pure/reconnect-after.js';
import { readRoute } from './pure/route.js';
import { OutageBanner } from './views/outage-banner.js';
import { signInForm } from './views/sign-in.js';
import { TopBar } from './views/top-bar.js';

/** @type {Session | null} */
let session = null;
/** @type {Page | null} */
let page = null;

restoreTheme();
const main = part('main');
const stream = new LiveStream(update, showSignIn);
const bar = new TopBar(part('bar'), signOut);
const banner = new OutageBanner(part('banner'));

part('skip').addEventListener('click', () => main.focus());
onSignedOut(showSignIn);
addEventListener('hashchange', () => openRoute({ focus: true }));
onTick(() => {
  if (session === null) return;
  banner.update(stream);
  page?.tick();
});
start(1);

/** Somebody may be signed in already. @param {number} attempt */
async function start(attempt) {
  try {
    const known = await ask('GET', '/dashboard/session');
    if (known.role === null) showSignIn();
    else signedIn(known);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    // In an outage nobody knows who is signed in.
    part('banner').hidden = false;
    part('banner').className = 'banner away';
    part('banner').textContent = `${error.message.replace(/\.$/, '')}; trying again …`;
    setTimeout(() => start(attempt + 1), reconnectAfterMs(attempt, Math.random()));
  }
}

/** @param {Session} who */
function signedIn(who) {
  session = who;
  bar.show(who);
  banner.hide();
  openRoute({ focus: false });
}

/** Whom the server cannot sign out stays signed in: the banner says that it is away. */
async function signOut() {
  await ask('DELETE', '/dashboard/session').then(showSignIn, () => undefined);
}

function showSignIn() {
  // It may be shown already, with a key half typed.
  if (session === null && main.querySelector('#key') !== null) return;
  session = null;
  page?.close();
  page = null;
  stream.close();
  bar.show(null);
  banner.hide();
  document.title = 'Sign in – Headgate';
  main.replaceChildren(signInForm(signedIn));
  main.querySelector('input')?.focus();
}

/** Shows the place that the address names. @param {{ focus: boolean }} how */
function openRoute({ focus }) {
  if (session === null) return;
  page?.close();
  page = openPage({ stream, session }, readRoute(location.hash));
  document.title = `${page.title} – Headgate`;
  main.replaceChildren(page.element);
  scrollTo(0, 0);
  if (focus) main.focus({ preventScroll: true });
  update();
}

function update() {
  if (session === null) return;
  bar.update(stream);
  page?.update(stream.state);
}

/** @param {string} id @returns {HTMLElement} */
function part(id) {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no #${id}`);
  return element;
}
