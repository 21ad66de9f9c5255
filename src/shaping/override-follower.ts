import type { LiveConfig } from '../config/live-config.js';
import { type OverrideSubject, parseSubject, subjectText } from '../config/override-subject.js';
import { NO_OVERRIDES } from '../config/override-values.js';
import { OVERRIDES_CHANNEL } from '../redis/keys.js';
import { isPassing } from '../redis/outage.js';
import type { Subscriber } from '../redis/subscriber.js';
import type { OverrideStore, StoredOverrides } from './override-store.js';

/** A message may get lost: the count of changes is looked at so often, jittered, which is one tiny command. */
const POLL_MS = 5000;

export interface FollowerOptions {
  /**
   * Told which subjects hold something else than before, after they do; not of changes by {@link OverrideFollower.adopt}.
   * One call at a time; what changes meanwhile is told by the next. A call that fails because Redis is away is not repeated:
   * whoever hears that it is back looks at everything.
   */
  readonly onChange: (subjects: readonly OverrideSubject[]) => Promise<void>;
  /** Told of errors other than Redis being away, which later looks outlive. */
  readonly onError: (error: unknown) => void;
  readonly pollMs?: number;
}

/**
 * Keeps the configuration of this process in step with the overrides in Redis.
 *
 * Every change has a number. A message with the next number brings one subject; whatever else (a gap, a reconnect, a count
 * that the poll finds different) reads everything anew. Readings run one after the other, and wait for nobody who is told of
 * them. `#ahead` holds what this process changed itself and has not yet heard of: an older reading does not undo it.
 */
export class OverrideFollower {
  readonly #store: OverrideStore;
  readonly #live: LiveConfig;
  readonly #subscriber: Subscriber;
  readonly #options: FollowerOptions;
  readonly #ahead = new Map<string, number>();
  #revision = -1;
  #readings: Promise<void> = Promise.resolve();
  #untold = new Map<string, OverrideSubject>();
  #telling: Promise<void> | undefined;
  readonly #leave: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(store: OverrideStore, live: LiveConfig, subscriber: Subscriber, options: FollowerOptions) {
    this.#store = store;
    this.#live = live;
    this.#subscriber = subscriber;
    this.#options = options;
  }

  /** Follows from now on. Nothing is read yet: call {@link reload} whenever Redis is there (again). */
  start(): void {
    this.#leave.push(
      this.#subscriber.subscribe(OVERRIDES_CHANNEL, (message) => this.#heard(message)),
      this.#subscriber.onSubscribed(() => void this.#look()),
    );
    this.#poll();
  }

  /** Follows no more; resolves when what is under way has ended. */
  async stop(): Promise<void> {
    for (const leave of this.#leave.splice(0)) leave();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#readings;
    await this.#telling;
  }

  /**
   * Reads everything: what is in Redis holds, whatever was known. Answers whether it could; Redis being away is no error.
   * What differs is told to `onChange` unless `silent`.
   */
  async reload({ silent = false } = {}): Promise<boolean> {
    let done = false;
    await this.#run(async () => {
      this.#ahead.clear(); // Redis may have lost what it had not yet written down.
      const changed = await this.#readAll();
      done = true;
      if (!silent) this.#tell(changed);
    });
    return done;
  }

  /** What this process changed by itself holds at once. */
  adopt(subject: OverrideSubject, { revision, values }: StoredOverrides): void {
    if (revision < (this.#ahead.get(subjectText(subject)) ?? 0)) return;
    this.#live.set(subject, values);
    if (revision > this.#revision) this.#ahead.set(subjectText(subject), revision);
  }

  #heard(message: string): void {
    const [count = '', text = ''] = message.split(' ');
    const subject = parseSubject(text);
    const revision = Number(count);
    if (subject === undefined || !Number.isInteger(revision)) return;
    void this.#run(async () => {
      if (revision <= this.#revision) return;
      if (revision > this.#revision + 1) return this.#tell(await this.#readAll());
      const isNew = this.#take(subject, await this.#store.read(subject));
      this.#reached(revision);
      if (isNew) this.#tell([subject]);
    });
  }

  #poll(): void {
    const everyMs = this.#options.pollMs ?? POLL_MS;
    this.#timer = setTimeout(
      async () => {
        await this.#look();
        if (this.#timer !== undefined) this.#poll();
      },
      everyMs * (0.75 + Math.random() / 2),
    );
    this.#timer.unref();
  }

  /** What was changed unheard shows in the count of changes. */
  #look(): Promise<void> {
    return this.#run(async () => {
      if ((await this.#store.revision()) !== this.#revision) this.#tell(await this.#readAll());
    });
  }

  async #readAll(): Promise<OverrideSubject[]> {
    const { revision, all } = await this.#store.readAll();
    const gone = this.#live.subjects().filter((subject) => !all.has(subjectText(subject)));
    const held = [...all].flatMap(([text, values]) => {
      const subject = parseSubject(text);
      return subject === undefined ? [] : [{ subject, values }];
    });
    const changed = [...gone.map((subject) => ({ subject, values: NO_OVERRIDES })), ...held].filter(
      ({ subject, values }) => this.#take(subject, { revision, values }),
    );
    this.#reached(revision);
    return changed.map(({ subject }) => subject);
  }

  /** True when the subject holds something else now. */
  #take(subject: OverrideSubject, { revision, values }: StoredOverrides): boolean {
    const ahead = this.#ahead.get(subjectText(subject));
    return (ahead === undefined || ahead <= revision) && this.#live.set(subject, values);
  }

  #reached(revision: number): void {
    this.#revision = revision;
    for (const [text, at] of this.#ahead) if (at <= revision) this.#ahead.delete(text);
  }

  #tell(subjects: readonly OverrideSubject[]): void {
    for (const subject of subjects) this.#untold.set(subjectText(subject), subject);
    this.#telling ??= this.#tellAll().finally(() => {
      this.#telling = undefined;
    });
  }

  async #tellAll(): Promise<void> {
    while (this.#untold.size > 0) {
      const subjects = [...this.#untold.values()];
      this.#untold.clear();
      await this.#options.onChange(subjects).catch((error: unknown) => this.#failed(error));
    }
  }

  #run(reading: () => Promise<void>): Promise<void> {
    this.#readings = this.#readings.then(reading).catch((error: unknown) => this.#failed(error));
    return this.#readings;
  }

  #failed(error: unknown): void {
    if (!isPassing(error)) this.#options.onError(error);
  }
}
