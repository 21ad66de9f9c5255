import { nameHint } from './name-hint.js';
import type { PolicedParts } from './policed-parts.js';
import { accepted, type Checked, refused } from './problems.js';
import { shown } from './shown.js';

/** The name of a policy that there is. `field` is where the name stands. */
export function knownPolicy({ policing, policies }: PolicedParts, name: string, field: string): Checked<string> {
  if (policing.has(name)) return accepted(name);
  const hint = nameHint(name, [...policies.keys()], 'policies');
  return refused({ code: 'unknown_policy', field, detail: `There is no policy ${shown(name)}: ${hint}` });
}
