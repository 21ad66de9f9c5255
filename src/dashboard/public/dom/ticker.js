/**
 * The one timer of the page: what moves or counts down asks to be told. Ten times a second, once where people want
 * little motion, not at all while nobody looks.
 */
const TICK_MS = 100;
const CALM_TICK_MS = 1000;

/** @type {Set<() => void>} */
const listeners = new Set();
const reduced = matchMedia('(prefers-reduced-motion: reduce)');
/** @type {ReturnType<typeof setInterval> | undefined} */
let timer;

/** @returns {boolean} whether people want little motion */
export function isCalm() {
  return reduced.matches;
}

/** @param {() => void} listener @returns {() => void} ends it */
export function onTick(listener) {
  listeners.add(listener);
  start();
  return () => {
    listeners.delete(listener);
    start();
  };
}

function start() {
  clearInterval(timer);
  if (listeners.size === 0 || document.hidden) return;
  timer = setInterval(
    () => {
      for (const listener of listeners) listener();
    },
    isCalm() ? CALM_TICK_MS : TICK_MS,
  );
}

document.addEventListener('visibilitychange', start);
reduced.addEventListener('change', start);
