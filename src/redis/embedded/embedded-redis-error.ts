/** The embedded Redis cannot be had. The message is one sentence for the person at the terminal. */
export class EmbeddedRedisError extends Error {
  override readonly name: string = 'EmbeddedRedisError';
}

/** No rung of the ladder holds: there is no server here and none could be fetched. The message says which command installs one. */
export class NoRedisServer extends EmbeddedRedisError {
  override readonly name = 'NoRedisServer';
}
