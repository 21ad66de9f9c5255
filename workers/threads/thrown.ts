import { busyUpstream } from '../handler.js';
import { messageOf } from '../message-of.js';

/** A thrown value on its way between threads: all that anybody asks of it there. */
export interface Thrown {
  readonly name: string;
  readonly message: string;
  /** Of an {@link UpstreamBusy}. */
  readonly busy?: ReturnType<typeof busyUpstream>;
}

export function toThrown(error: unknown): Thrown {
  const busy = busyUpstream(error);
  return {
    name: error instanceof Error ? String(error.name) : 'Error',
    message: messageOf(error),
    ...(busy && { busy }),
  };
}

/** An error that means the same here as the thrown value did there. */
export function fromThrown({ name, message, busy }: Thrown): Error {
  return Object.assign(new Error(message), { name, ...busy });
}
