import { clockOffsetMs, monotonicMs } from './clock.js';
import type { Contract, Tolerances } from './contract.js';
import { numberField } from './json-field.js';
import { startRefereeChild } from './referee-child.js';
import { type RefereeServer, startRefereeServer } from './referee-server.js';
import { report } from './report.js';
import type {
  AdmissionEvent,
  CancellationEvent,
  ChangeEvent,
  OutageEvent,
  SampleEvent,
  SightEvent,
  Trace,
  TraceEvent,
} from './trace.js';
import { judge, type Verdict } from './verdict.js';

/** What a referee is started with. */
export interface RefereeOptions {
  readonly contract: Contract;
  /** What differs from the default tolerances. */
  readonly tolerances?: Partial<Tolerances>;
  /** `false` runs its server in this process, which is quicker to start, and blurred by whatever else it does. */
  readonly apart?: boolean;
}

/**
 * The referee of one test: the upstream that handlers call at {@link url}, the recorder of what HTTP answered, and the judges.
 *
 * Start it, give its url to the handlers, record every answer, let all jobs reach their ends, then
 * {@link expectNoViolations}, then {@link stop}. All instants are read with {@link now}.
 */
export class Referee {
  readonly url: string;
  readonly #server: RefereeServer;
  readonly #options: RefereeOptions;
  readonly #offsetMs: number;
  readonly #watchers: Set<() => void>;
  readonly #recorded: TraceEvent[] = [];

  private constructor(server: RefereeServer, options: RefereeOptions, offsetMs: number, watchers: Set<() => void>) {
    this.url = server.url;
    this.#server = server;
    this.#options = options;
    this.#offsetMs = offsetMs;
    this.#watchers = watchers;
  }

  static async start(options: RefereeOptions): Promise<Referee> {
    const watchers = new Set<() => void>();
    const onEvent = () => {
      for (const watcher of watchers) watcher();
    };
    const server = await (options.apart === false ? startRefereeServer(onEvent) : startRefereeChild(onEvent));
    const sentAt = monotonicMs();
    const now = numberField(await (await fetch(`${server.url}/now`)).json(), 'now');
    if (now === undefined) throw new Error('the referee does not tell its time');
    return new Referee(server, options, clockOffsetMs(sentAt, now, monotonicMs()), watchers);
  }

  /** The referee's clock. */
  now(): number {
    return monotonicMs() + this.#offsetMs;
  }

  /** One request to enqueue a job, or one item of a batch, and its answer. */
  recordAdmission(event: Omit<AdmissionEvent, 'kind'>): void {
    this.#record({ kind: 'admission', ...event });
  }

  /** One read of a job. */
  recordSight(event: Omit<SightEvent, 'kind'>): void {
    this.#record({ kind: 'sight', ...event });
  }

  recordCancellation(event: Omit<CancellationEvent, 'kind'>): void {
    this.#record({ kind: 'cancellation', ...event });
  }

  /** How many jobs Redis held as running. */
  recordSample(event: Omit<SampleEvent, 'kind'>): void {
    this.#record({ kind: 'sample', ...event });
  }

  /** A contract was changed. */
  recordChange(event: Omit<ChangeEvent, 'kind'>): void {
    this.#record({ kind: 'change', ...event });
  }

  /** Something was broken on purpose; `to` includes the recovery. */
  recordOutage(event: Omit<OutageEvent, 'kind'>): void {
    this.#record({ kind: 'outage', ...event });
  }

  /** Everything seen and recorded so far, the server asked. */
  async trace(): Promise<Trace> {
    return [...(await this.#server.allEvents()), ...this.#recorded];
  }

  /** Resolves when the trace satisfies `condition`, looked at after every event; rejects after `timeoutMs`. */
  async until(condition: (trace: Trace) => boolean, timeoutMs = 120_000): Promise<void> {
    const known = () => [...this.#server.events(), ...this.#recorded];
    if (condition(known())) return;
    await new Promise<void>((resolve, reject) => {
      const watcher = () => {
        if (!condition(known())) return;
        this.#watchers.delete(watcher);
        clearTimeout(deadline);
        resolve();
      };
      const deadline = setTimeout(() => {
        this.#watchers.delete(watcher);
        reject(new Error(`what the referee waited for did not happen within ${timeoutMs} ms`));
      }, timeoutMs);
      this.#watchers.add(watcher);
    });
  }

  /** Judges everything seen so far. */
  async verdict(): Promise<Verdict> {
    return judge(await this.trace(), this.#options.contract, this.#options.tolerances);
  }

  /** The verdict; throws its report when there is a violation, or when nothing ran and so nothing was proved. */
  async expectNoViolations(): Promise<Verdict> {
    const verdict = await this.verdict();
    if (verdict.violations.length > 0) throw new Error(report(verdict));
    if (verdict.seen.starts === 0)
      throw new Error(`No job reached the referee, so that it proves nothing.\n${report(verdict)}`);
    return verdict;
  }

  /** Ends the server, after which nothing can be judged any more. */
  async stop(): Promise<void> {
    await this.#server.close();
  }

  #record(event: TraceEvent): void {
    this.#recorded.push(event);
    for (const watcher of this.#watchers) watcher();
  }
}
