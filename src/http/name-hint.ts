import { suggestName } from '../config/nearest-name.js';

/** The end of a sentence about a name that is not known: `did you mean "ocr"?`, or what the known names are. */
export function nameHint(name: string, known: readonly string[], plural: string): string {
  const hint = suggestName(name, known, plural);
  return hint.endsWith('?') ? hint : `${hint}.`;
}
