/** What overrides may be stated for: a tenant, a tier of the file, or a type of the file. */
export interface OverrideSubject {
  readonly kind: 'tenant' | 'tier' | 'type';
  readonly name: string;
}

/** A subject as one word: names are percent-encoded, so that none of them means anything in a key or a message. */
export function subjectText({ kind, name }: OverrideSubject): string {
  return `${kind}:${encodeURIComponent(name)}`;
}

/** Inverse of {@link subjectText}; `undefined` for what is none. */
export function parseSubject(text: string): OverrideSubject | undefined {
  const [, kind, name = ''] = /^(tenant|tier|type):([\w%.!~*'()-]+)$/.exec(text) ?? [];
  if (kind !== 'tenant' && kind !== 'tier' && kind !== 'type') return undefined;
  try {
    return { kind, name: decodeURIComponent(name) };
  } catch {
    return undefined;
  }
}
