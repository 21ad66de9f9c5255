import type { Path } from './problem.js';
import type { Reading } from './reading.js';
import { describeWritten, type Written } from './yaml-source.js';

/** Aliases can make a small file unfold into a huge value. */
const MAX_VALUES = 10_000;
const MAX_DEPTH = 32;

/**
 * Reads any JSON object: what it means is its user's business, but it has to be one. Numbers that JSON has not and
 * names that are special to JavaScript are problems.
 */
export function readFreeObject(written: Written, path: Path, reading: Reading): Readonly<Record<string, unknown>> {
  if (written.kind !== 'mapping') {
    reading.problems.add(path, `expected a mapping ({} for none); got ${describeWritten(written)}`);
    return {};
  }
  const budget = { values: MAX_VALUES };
  const object = readMapping(written, path, reading, budget);
  if (budget.values < 0) reading.problems.add(path, `expected at most ${MAX_VALUES} values`);
  return object;
}

interface Budget {
  values: number;
}

function readMapping(written: Written & { kind: 'mapping' }, path: Path, reading: Reading, budget: Budget) {
  const object: Record<string, unknown> = {};
  const { source, problems } = reading;
  for (const entry of source.entries(written.mapping)) {
    const position = source.position(entry.key);
    if (entry.name === undefined) problems.add(path, 'expected a name before the colon', position);
    else if (entry.name === '__proto__') problems.add([...path, entry.name], 'this name cannot be used', position);
    else if (Object.hasOwn(object, entry.name)) problems.add([...path, entry.name], 'stands here twice', position);
    else {
      const place = [...path, entry.name];
      problems.locate(place, source.position(entry.value) ?? position);
      object[entry.name] = readValue(entry.value, place, reading, budget);
    }
  }
  return object;
}

function readValue(node: unknown, path: Path, reading: Reading, budget: Budget): unknown {
  budget.values--;
  if (budget.values < 0) return null;
  const written = reading.source.written(node);
  const wrong = (what: string) => {
    reading.problems.add(path, what, reading.source.position(node));
    return null;
  };
  if (path.length > MAX_DEPTH) return wrong(`expected at most ${MAX_DEPTH} levels`);
  switch (written.kind) {
    case 'text':
      return written.text;
    case 'number': {
      const value = Number(written.text);
      return Number.isFinite(value) ? value : wrong(`expected a number that JSON has; got ${describeWritten(written)}`);
    }
    case 'boolean':
      return written.text.toLowerCase() === 'true';
    case 'nothing':
    case 'null':
      return null;
    case 'list':
      return written.list.items.map((item, index) => readValue(item, [...path, index], reading, budget));
    case 'mapping':
      return readMapping(written, path, reading, budget);
    case 'dangling':
      return wrong('an alias of nothing');
  }
}
