/** What is not seen, or moves what is: each is shown by its number. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}\p{Cn}]/gu;
const LONGEST = 160;

/**
 * A name as people may see it: what is invisible, or would turn the text around it, is made visible.
 *
 * @param {string} text any text, of whoever made it
 * @param {number} [longest] of what is shown; the middle of a longer one is left out
 * @returns {string}
 */
export function showText(text, longest = LONGEST) {
  return shorten(text, longest).replace(HIDDEN, picture);
}

/** @param {string} text @param {number} longest */
function shorten(text, longest) {
  const letters = [...text];
  if (letters.length <= longest) return text;
  const half = Math.floor((longest - 1) / 2);
  return `${letters.slice(0, half).join('')}…${letters.slice(-half).join('')}`;
}

/** @param {string} character */
function picture(character) {
  const code = character.codePointAt(0) ?? 0;
  return `⟨${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
}
