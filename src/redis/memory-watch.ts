import type { RedisLink } from './connection.js';
import { askMasters } from './masters.js';

/** The Redis may throw away what it was given to keep; the message is one sentence for people. */
export class EvictingRedis extends Error {
  override readonly name = 'EvictingRedis';

  constructor(policy: string) {
    super(
      `This Redis evicts (maxmemory-policy ${policy}): it may throw away accepted jobs. ` +
        'Set maxmemory-policy noeviction there, or run with --allow-eviction (memory.allowEviction).',
    );
  }
}

/** Whether Redis has room for more jobs. Bytes as Redis counts them. */
export type MemoryState =
  | { readonly kind: 'fine' }
  | { readonly kind: 'high'; readonly usedBytes: number; readonly markBytes: number }
  | { readonly kind: 'evicts'; readonly policy: string };

/** Marks above which it has none. */
export interface MemoryMarks {
  /** Share of `maxmemory`; a Redis without one has no such mark. */
  readonly highWater: number;
  /** `Infinity`: none. */
  readonly highWaterBytes: number;
  readonly allowEviction: boolean;
}

/** How long a filling Redis may go unseen: a second of admissions fits between the mark and the brim. */
const LOOK_EVERY_MS = 1000;

/**
 * Looks at the memory of a Redis every second, so that nobody who admits a job has to. While Redis is away what was last
 * seen stands. The connection is the caller's to close.
 */
export class MemoryWatch {
  readonly #redis: RedisLink;
  readonly #marks: MemoryMarks;
  readonly #onChange: (state: MemoryState) => void;
  #state: MemoryState = { kind: 'fine' };
  #timer: NodeJS.Timeout | undefined;

  /** @param onChange Told whenever the kind of state is another. */
  constructor(redis: RedisLink, marks: MemoryMarks, onChange: (state: MemoryState) => void = () => undefined) {
    this.#redis = redis;
    this.#marks = marks;
    this.#onChange = onChange;
  }

  get state(): MemoryState {
    return this.#state;
  }

  /** Looks now. Never rejects. */
  async look(): Promise<MemoryState> {
    if (this.#redis.status !== 'ready') return this.#state;
    const infos = await this.#ask().catch(() => undefined);
    if (infos === undefined) return this.#state;
    const before = this.#state.kind;
    this.#state = worstOf(infos.map((info) => memoryStateOf(info, this.#marks)));
    if (this.#state.kind !== before) this.#onChange(this.#state);
    return this.#state;
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.look(), LOOK_EVERY_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #ask(): Promise<string[]> {
    return askMasters(this.#redis, (master) => master.info('memory'));
  }
}

/** A job may come to lie on any of them. */
function worstOf(states: readonly MemoryState[]): MemoryState {
  return states.find(({ kind }) => kind === 'evicts') ?? states.find(({ kind }) => kind === 'high') ?? { kind: 'fine' };
}

/** What `INFO memory` says, against the marks. A server that does not say counts as fine. */
export function memoryStateOf(info: string, marks: MemoryMarks): MemoryState {
  const field = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1];
  const policy = field('maxmemory_policy') ?? 'noeviction';
  if (policy !== 'noeviction' && !marks.allowEviction) return { kind: 'evicts', policy };
  const usedBytes = Number(field('used_memory') ?? 0);
  const maxBytes = Number(field('maxmemory') ?? 0);
  const markBytes = Math.min(marks.highWaterBytes, maxBytes > 0 ? Math.floor(maxBytes * marks.highWater) : Infinity);
  return usedBytes > markBytes ? { kind: 'high', usedBytes, markBytes } : { kind: 'fine' };
}
