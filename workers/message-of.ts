const MAX_LENGTH = 2000;

/** What a thrown value says, at most 2,000 characters of it. It may be anything at all, and is never empty for an error. */
export function messageOf(error: unknown): string {
  try {
    const said: unknown = error instanceof Error ? error.message || error.name : error;
    return String(said).slice(0, MAX_LENGTH);
  } catch {
    return 'something was thrown that has no text';
  }
}
