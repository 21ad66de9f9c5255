/** @import { Summary, Trouble, TypeRow } from './stream-state.js' */
import { clock, count, duration, rate } from './format.js';
import { showText } from './show-text.js';

/**
 * @typedef {string | { name: string, tenant?: boolean }} Word a name is somebody else's text, and shown apart
 * @typedef {{ tone: 'good' | 'bad' | 'warn' | 'plain', words: Word[] }} Clause
 */

/** A start that is due by less is under way. */
const LATE_MS = 1000;

/** @type {readonly [Trouble, string][]} */
const NAMED = [
  ['full', 'full'],
  ['noisy', 'noisy'],
  ['starved', 'starved'],
  ['held', 'held by a busy upstream'],
];

/**
 * How a type is, in one sentence: whether it is behind, who stands out, and when the next job starts.
 *
 * @param {TypeRow} row
 * @param {Summary | null} summary of its buckets
 * @param {readonly TypeRow[]} others the other types
 * @param {number} nowMs since 1970
 * @returns {Clause[]}
 */
export function headline(row, summary, others, nowMs) {
  const standing =
    summary === null ? [] : named(summary).flatMap(([trouble, word]) => standsOut(summary, trouble, word));
  const quiet = summary !== null && standing.length === 0 && !row.behind;
  return [
    state(row),
    ...standing,
    ...(quiet ? [clause('plain', 'nobody is full')] : []),
    ...nextStart(row, summary, nowMs),
    ...alsoBehind(others),
  ];
}

/** Who is full refuses, too: that is said of others only. @param {Summary} summary @returns {readonly [Trouble, string][]} */
function named({ counts }) {
  return (counts.refusing ?? 0) > (counts.full ?? 0) ? [...NAMED, ['refusing', 'refusing jobs']] : NAMED;
}

/** @param {readonly Clause[]} clauses @returns {string} */
export function sentence(clauses) {
  const text = clauses.map(({ words }) => words.map((word) => (typeof word === 'string' ? word : showText(word.name))));
  return text.map((words) => words.join('')).join('; ');
}

/** @param {TypeRow} row @returns {Clause} */
function state({ type, paused, behind, oldestMs, scarceForMs, waiting, running, outPerSecond }) {
  const name = { name: type };
  const oldest = oldestMs === null ? `${count(waiting)} wait` : `oldest waits ${duration(oldestMs)}`;
  if (paused) return clause('warn', name, ` is paused: ${oldest}`);
  const scarce = scarceForMs >= 1000 ? `, workers scarce for ${duration(scarceForMs)}` : '';
  if (behind) return clause('bad', name, ` is behind: ${oldest}${scarce}`);
  if (waiting === 0 && running === 0) return clause('good', name, ' is idle');
  return clause('good', name, ` keeps up: ${rate(outPerSecond)} out, ${count(waiting)} wait${scarce}`);
}

/** @param {Summary} summary @param {Trouble} trouble @param {string} word @returns {Clause[]} */
function standsOut({ counts, names }, trouble, word) {
  const known = names[trouble] ?? [];
  const total = counts[trouble] ?? known.length;
  if (total === 0) return [];
  const tone = trouble === 'full' || trouble === 'starved' ? 'bad' : 'warn';
  const shown = known.slice(0, 2);
  if (shown.length === 0) return [clause(tone, `${count(total)} ${total === 1 ? 'bucket is' : 'buckets are'} ${word}`)];
  const more = total - shown.length;
  return [clause(tone, ...listed(shown.map(tenantOf), more), total === 1 ? ` is ${word}` : ` are ${word}`)];
}

/** @param {readonly Word[]} names one or two @param {number} more @returns {Word[]} */
function listed(names, more) {
  const rest = more > 0 ? [` and ${count(more)} more`] : [];
  const [first = '', second] = names;
  if (second === undefined) return [first, ...rest];
  return [first, more > 0 ? ', ' : ' and ', second, ...rest];
}

/** @param {string} name */
function tenantOf(name) {
  return { name, tenant: true };
}

/** @param {TypeRow} row @param {Summary | null} summary @param {number} nowMs @returns {Clause[]} */
function nextStart({ paused }, summary, nowMs) {
  const next = summary?.nextStart ?? null;
  if (next === null || paused) return [];
  const atMs = Date.parse(next.at);
  const time = clock(atMs, { tenths: true });
  // What is late waits for a worker, and nobody knows when one is free.
  if (atMs < nowMs - LATE_MS) return [clause('plain', `next start as soon as a worker is free, due since ${time}`)];
  return [clause('plain', `next start ${time}`)];
}

/** @param {readonly TypeRow[]} others @returns {Clause[]} */
function alsoBehind(others) {
  const names = others.filter(({ behind, paused }) => behind && !paused).map(({ type }) => ({ name: type }));
  if (names.length === 0) return [];
  return [
    clause(
      'bad',
      ...listed(names.slice(0, 2), names.length - 2),
      names.length === 1 ? ' is behind too' : ' are behind too',
    ),
  ];
}

/** @param {Clause['tone']} tone @param {...Word} words @returns {Clause} */
function clause(tone, ...words) {
  return { tone, words };
}
