import { type Command, Redis, type RedisOptions } from 'ioredis';

/** What becomes of a call of a script on its way. */
export type Mishap = 'none' | 'reply lost' | 'never came' | 'comes late';

export interface Conditions {
  /** How long a call takes, µs. */
  readonly latencyUs: () => number;
  readonly mishap: () => Mishap;
}

const CALM: Conditions = { latencyUs: () => 0, mishap: () => 'none' };
const NO_ANSWER = 'Command timed out';

/** One clock of which every shard has a view of its own. */
export class ShardClocks {
  /** Microseconds since 2025-01-01; only a test moves it. */
  nowUs: number;
  /** By how much the clock of a shard is ahead, in their order. */
  readonly #aheadUs: readonly number[];

  constructor(nowUs: number, aheadUs: readonly number[]) {
    this.nowUs = nowUs;
    this.#aheadUs = aheadUs;
  }

  of(shard: number): number {
    return this.nowUs + (this.#aheadUs[shard] ?? 0);
  }
}

/**
 * A connection over which every script runs at an explicit instant, that of its shard, and on which calls take time, get lost, lose
 * their reply or come after their caller has given them up.
 */
export class ClockedRedis extends Redis {
  conditions: Conditions = CALM;
  readonly #clocks: ShardClocks;
  readonly #change: (library: string) => string;
  #late: (() => Promise<unknown>)[] = [];

  /** @param change Alters the text of a library as it is loaded. */
  constructor(options: RedisOptions, clocks: ShardClocks, change: (library: string) => string = (text) => text) {
    super(options);
    this.#clocks = clocks;
    this.#change = change;
  }

  override sendCommand(command: Command, stream?: Parameters<Redis['sendCommand']>[1]): unknown {
    const { args } = command;
    if (command.name === 'function' && typeof args.at(-1) === 'string') {
      args[args.length - 1] = this.#change(String(args.at(-1)));
    }
    if (command.name !== 'fcall') return super.sendCommand(command, stream);
    this.#clocks.nowUs += this.conditions.latencyUs();
    const nowAt = 2 + Number(args[1]);
    const takesTime = args[nowAt] === '';
    const atItsInstant = () => {
      if (takesTime) args[nowAt] = String(this.#clocks.of(shardOfKey(String(args[2]))));
    };
    const mishap = this.conditions.mishap();
    if (mishap === 'comes late') {
      this.#late.push(() => {
        atItsInstant();
        return this.call('FCALL', ...args.map(String)).catch(() => undefined);
      });
    }
    if (mishap === 'never came' || mishap === 'comes late') {
      command.reject(new Error(NO_ANSWER));
      return command.promise;
    }
    atItsInstant();
    if (mishap === 'reply lost') command.resolve = () => command.reject(new Error(NO_ANSWER));
    return super.sendCommand(command, stream);
  }

  /** What was held up comes now. */
  async letLateCallsCome(): Promise<void> {
    const late = this.#late;
    this.#late = [];
    for (const call of late) await call();
  }
}

function shardOfKey(key: string): number {
  return Number(/^\{hg:[^}]*:(\d+)\}/.exec(key)?.[1] ?? 0);
}
