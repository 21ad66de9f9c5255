/** A name of someone else's choosing, cut to what fits in a sentence. */
const LONGEST_NAME = 64;

/** `path` extended by one step, written as a program would: `jobs[3].data.pages`, `data["odd name"]`. */
export function fieldAt(path: string, step: string | number): string {
  if (typeof step === 'number') return `${path}[${step}]`;
  if (!/^[A-Za-z_$][\w$-]{0,63}$/.test(step)) return `${path}[${JSON.stringify(shortened(step))}]`;
  return path === '' ? step : `${path}.${step}`;
}

/** A JSON pointer into `root` as a field path that starts at `path`. */
export function fieldAtPointer(path: string, root: unknown, pointer: string): string {
  let field = path;
  let value = root;
  for (const escaped of pointer.split('/').slice(1)) {
    const step = escaped.replaceAll('~1', '/').replaceAll('~0', '~');
    field = fieldAt(field, Array.isArray(value) ? Number(step) : step);
    value = childOf(value, step);
  }
  return field;
}

/** `value` as JSON, cut to what fits in a sentence. */
export function shown(value: unknown): string {
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  if (Array.isArray(value)) return value.length === 0 ? '[]' : 'an array';
  if (typeof value === 'object' && value !== null) return 'an object';
  return value === undefined ? 'nothing' : JSON.stringify(typeof value === 'string' ? shortened(value) : value);
}

function shortened(text: string): string {
  return text.length <= LONGEST_NAME ? text : `${text.slice(0, LONGEST_NAME)}…`;
}

function childOf(value: unknown, step: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.getOwnPropertyDescriptor(value, step)?.value;
}
