/** The clock of the server, as far as a page can tell: what was said last arrived at once, or later. */
let aheadMs = 0;
let known = false;

/** Hears what time it is there. @param {string} at */
export function hearTime(at) {
  const heard = Date.parse(at) - Date.now();
  if (!Number.isFinite(heard)) return;
  // A late message says too little; a clock that was set back is believed in time.
  aheadMs = known ? Math.max(heard, aheadMs - 20) : heard;
  known = true;
}

/** @returns {number} milliseconds since 1970, there */
export function serverNow() {
  return Date.now() + aheadMs;
}
