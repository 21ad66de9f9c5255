import type { Path } from '../config/problem.js';

/** Where a JSON pointer leads from `root`: steps into arrays are numbers. A step that leads nowhere ends in `undefined`. */
export function followPointer(root: unknown, pointer: string): { readonly path: Path; readonly value: unknown } {
  const path: (string | number)[] = [];
  let value = root;
  for (const escaped of pointer.split('/').slice(1)) {
    const step = escaped.replaceAll('~1', '/').replaceAll('~0', '~');
    path.push(Array.isArray(value) ? Number(step) : step);
    value = ownMember(value, step);
  }
  return { path, value };
}

/** A member of an object or array that is its own, whatever it is called. */
export function ownMember(value: unknown, name: string): unknown {
  const isOwn = typeof value === 'object' && value !== null && Object.hasOwn(value, name);
  return isOwn ? Reflect.get(value, name) : undefined;
}
