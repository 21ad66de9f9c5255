/** Wrong input: one sentence for people, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
