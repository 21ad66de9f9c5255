import { shown } from './judgement.js';
import type { Verdict } from './verdict.js';

/** So many violations of one judge are written out. */
const WRITTEN_OUT = 10;

/** A verdict as people read it: what was seen, what was judged with which tolerances, and each violation. */
export function report({ violations, judgements, tolerances, seen }: Verdict): string {
  const { arrivalMs, earlyMs, lateMs, shortfall } = tolerances;
  const lines = [
    violations.length === 0
      ? 'The referee found no violation.'
      : `The referee found ${violations.length} violation(s).`,
    `Seen: ${seen.admitted} jobs admitted, ${seen.refused} requests refused, ${seen.starts} starts, ${seen.buckets} buckets.`,
    `Tolerances: ${arrivalMs} ms from dispatch to arrival; starts ${earlyMs} ms early to ${lateMs} ms late; ${shortfall * 100} % in the long run.`,
  ];
  if (seen.longestWayMs > arrivalMs) {
    lines.push(
      `The workers were so busy that a handler's call took up to ${shown(seen.longestWayMs)} ms: a dispatch may well have taken ` +
        `longer than ${arrivalMs} ms to reach its handler. State an arrivalMs that fits such a run.`,
    );
  }
  for (const { guarantee, what, judged, excused, violations: found } of judgements) {
    const verdict = found.length === 0 ? 'kept' : `BROKEN ${found.length} times`;
    lines.push(`${guarantee} ${verdict}: ${judged} ${what}${excused > 0 ? `, ${excused} excused` : ''}`);
    for (const { bucket, at, sentence } of found.slice(0, WRITTEN_OUT))
      lines.push(`   ${bucket} at ${at.toFixed(1)}: ${sentence}`);
    if (found.length > WRITTEN_OUT) lines.push(`   and ${found.length - WRITTEN_OUT} more`);
  }
  return lines.join('\n');
}
