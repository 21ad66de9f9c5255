/** Light, dark, or as the system has it; kept in the browser. */
const KEPT_AS = 'headgate-theme';
const CHOICES = ['auto', 'light', 'dark'];
const dark = matchMedia('(prefers-color-scheme: dark)');

/** @type {Set<() => void>} */
const listeners = new Set();

/** @returns {string} auto, light or dark */
export function theme() {
  return CHOICES.find((choice) => choice === document.documentElement.dataset.theme) ?? 'auto';
}

/** The next of the three. */
export function switchTheme() {
  const next = CHOICES[(CHOICES.indexOf(theme()) + 1) % CHOICES.length] ?? 'auto';
  localStorage.setItem(KEPT_AS, next);
  wear(next);
}

/** As it was chosen last time. */
export function restoreTheme() {
  wear(localStorage.getItem(KEPT_AS) ?? 'auto');
}

/** What is painted and not styled has to be told. @param {() => void} listener @returns {() => void} ends it */
export function onThemeChange(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** @param {string} choice */
function wear(choice) {
  document.documentElement.dataset.theme = choice;
  tell();
}

function tell() {
  for (const listener of listeners) listener();
}

dark.addEventListener('change', tell);
