import { formatPath } from '../config/problem.js';
import { accepted, type Checked, refused } from './problems.js';

/** Arrays and objects inside one another. Deeper ones exhaust the stack of whatever walks them next. */
export const DEEPEST = 100;

/** One for all bodies, each of which is whole: to make one takes as long as to read a small body. */
const STRICT_UTF8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads a body: UTF-8 without mistakes, JSON, no deeper than {@link DEEPEST}, every number within the range of a double.
 *
 * An empty body is `undefined`: whether that is a mistake is the route's affair. Keys such as `__proto__` are data:
 * `JSON.parse` makes them plain members, and nothing here copies members onto other objects.
 */
export function readJson(bytes: Buffer): Checked<unknown> {
  if (bytes.length === 0) return accepted(undefined);
  let text: string;
  try {
    text = STRICT_UTF8.decode(bytes);
  } catch {
    return refused({ code: 'malformed_body', field: 'body', detail: 'The body is not valid UTF-8.' });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message.slice(0, 120) : 'unreadable';
    return refused({ code: 'malformed_body', field: 'body', detail: `The body is not JSON: ${reason}.` });
  }
  return withinLimits(value);
}

interface Step {
  readonly value: unknown;
  readonly name: string | number;
  readonly depth: number;
  readonly parent: Step | undefined;
}

/** Walks with a stack of its own: the point is to survive what a recursive walk would not. */
function withinLimits(root: unknown): Checked<unknown> {
  const waiting: Step[] = [{ value: root, name: '', depth: 0, parent: undefined }];
  for (let step = waiting.pop(); step !== undefined; step = waiting.pop()) {
    const { value } = step;
    if (typeof value === 'number' && !Number.isFinite(value)) return tooBig(step);
    if (typeof value !== 'object' || value === null) continue;
    if (step.depth === DEEPEST) return tooDeep();
    const entries = Array.isArray(value) ? value.entries() : Object.entries(value);
    for (const [name, child] of entries) {
      if (typeof child === 'number' ? !Number.isFinite(child) : typeof child === 'object' && child !== null) {
        waiting.push({ value: child, name, depth: step.depth + 1, parent: step });
      }
    }
  }
  return accepted(root);
}

function tooBig(step: Step): Checked<never> {
  const names: (string | number)[] = [];
  for (let at: Step | undefined = step; at?.parent !== undefined; at = at.parent) names.unshift(at.name);
  const field = formatPath(names) || 'body';
  return refused({ code: 'invalid_field', field, detail: `\`${field}\` holds a number beyond the range of a double.` });
}

function tooDeep(): Checked<never> {
  return refused({
    code: 'malformed_body',
    field: 'body',
    detail: `Arrays and objects stand inside one another more than ${DEEPEST} deep.`,
  });
}
