import { count, moment } from './format.js';

/**
 * What a change of rate would do, in a sentence.
 *
 * @param {{ waiting: number, endsAt: string | null, wouldEndAt: string | null }} preview
 * @param {number} nowMs
 * @returns {string}
 */
export function previewSentence({ waiting, endsAt, wouldEndAt }, nowMs) {
  if (waiting === 0) return 'Nothing waits: only what comes later would start at this rate.';
  const backlog = `The backlog of ${count(waiting)}`;
  const now = endsAt === null ? null : shown(endsAt, nowMs);
  if (wouldEndAt === null) return `${backlog} would never end${now === null ? '' : ` instead of at ${now}`}.`;
  const then = shown(wouldEndAt, nowMs);
  if (now === null) return `${backlog} would end at ${then}; as it is, it never ends.`;
  return then === now
    ? `${backlog} would end at ${then}, as it does now.`
    : `${backlog} would end at ${then} instead of ${now}.`;
}

/** @param {string} at @param {number} nowMs to the minute where it is far away */
function shown(at, nowMs) {
  const atMs = Date.parse(at);
  const text = moment(atMs, nowMs);
  return atMs - nowMs > 10 * 60_000 ? text.slice(0, -3) : text;
}
