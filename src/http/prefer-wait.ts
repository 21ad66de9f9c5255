import { accepted, type Checked, refused } from './problems.js';

/** Who asks for longer is answered as if he had asked for this, in seconds. */
export const LONGEST_WAIT_S = 60;

const WAIT = /^wait\s*(?:=\s*(.*))?$/i;

/**
 * The seconds for which a request would rather wait than be answered at once, by its `Prefer` header (RFC 7240), at most
 * {@link LONGEST_WAIT_S}; 0 when it says nothing of that. Other preferences are ignored, as that RFC has it, and of two
 * waits the first counts.
 */
export function preferredWaitS(header: string | readonly string[] | undefined): Checked<number> {
  if (header === undefined) return accepted(0);
  const preferences = [header].flat().flatMap((text) => text.split(','));
  for (const preference of preferences) {
    const wait = WAIT.exec(preference.split(';', 1)[0]?.trim() ?? '');
    if (!wait) continue;
    const seconds = /^(?:"(\d{1,9})"|(\d{1,9}))$/.exec(wait[1]?.trim() ?? '');
    if (seconds) return accepted(Math.min(Number(seconds[1] ?? seconds[2]), LONGEST_WAIT_S));
    return refused({
      code: 'invalid_field',
      field: 'Prefer',
      detail: `\`Prefer: wait=…\` takes whole seconds, of which at most ${LONGEST_WAIT_S} are granted.`,
    });
  }
  return accepted(0);
}
