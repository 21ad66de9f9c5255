/** Why there is no value. */
export interface Fault {
  readonly fault: string;
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'permission denied',
  EISDIR: 'it is a folder',
  ENOTDIR: 'part of the path is not a folder',
};

/** Why a file could not be read, in words. */
export function readFault(file: string, error: unknown): Fault {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const reason = code === undefined ? String(error) : (REASONS[code] ?? code);
  return { fault: `${file} cannot be read: ${reason}` };
}
