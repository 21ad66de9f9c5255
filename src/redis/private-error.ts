/** What Redis says of a command that it does not know; the arguments that follow are the caller's. */
const QUOTED_ARGUMENTS = /, with args beginning with: [\s\S]*$/;

/**
 * The same error without what was sent to Redis: the client hangs the command with all its arguments on an error, among
 * them payloads, and whoever logs the error would log those.
 */
export function withoutArguments<Thrown>(error: Thrown): Thrown {
  if (!(error instanceof Error)) return error;
  Reflect.deleteProperty(error, 'command');
  if (QUOTED_ARGUMENTS.test(error.message)) {
    error.message = error.message.replace(QUOTED_ARGUMENTS, '');
    error.stack = `${error.name}: ${error.message}`;
  }
  return error;
}
