import { type Command, Redis, type RedisOptions } from 'ioredis';
import { startDeadline } from './deadline.js';

/**
 * A connection whose every command ends by a deadline: one that was not answered by then rejects with `Command timed out`.
 * Unlike with ioredis' own `commandTimeout`, an answer that is there already is read, however busy this process was.
 */
export class PunctualRedis extends Redis {
  readonly #deadlineMs: number;

  constructor(options: RedisOptions, deadlineMs: number) {
    super(options);
    this.#deadlineMs = deadlineMs;
  }

  override sendCommand(command: Command, stream?: Parameters<Redis['sendCommand']>[1]): unknown {
    const end = startDeadline(this.#deadlineMs, () => command.reject(new Error('Command timed out')));
    command.promise.then(end, end);
    return super.sendCommand(command, stream);
  }
}
