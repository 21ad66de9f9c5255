/** A member of something that came as JSON; `undefined` when it is no object or has no such member of its own. */
export function field(body: unknown, name: string): unknown {
  return typeof body === 'object' && body !== null && Object.hasOwn(body, name) ? Reflect.get(body, name) : undefined;
}

/** The same, when it is a text. */
export function textField(body: unknown, name: string): string | undefined {
  const value = field(body, name);
  return typeof value === 'string' ? value : undefined;
}

/** The same, when it is a finite number. */
export function numberField(body: unknown, name: string): number | undefined {
  const value = field(body, name);
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
