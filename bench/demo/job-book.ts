import type { Answer, JobReading } from './demo-client.js';
import type { Page } from './pages.js';
import type { ServedJob } from './served-job.js';

/** The calls that a book makes. */
export interface JobSource {
  submit(page: string): Promise<Answer>;
  job(id: string): Promise<JobReading>;
}

/** A job of the book, with the page that it is about. */
export interface BookedJob extends ServedJob {
  readonly id: string;
  readonly page: Page;
  readonly state: string;
  /** The recognised text, once completed. */
  readonly text?: string;
  /** Why it failed. */
  readonly error?: string;
}

/**
 * One tenant's jobs in the order in which they were admitted, kept up to date by reading.
 *
 * Jobs of one bucket and priority start in that order, so a refresh reads from the first job that has not ended to the
 * first that waits and no further. `send` and `refresh` may overlap, but no call of one kind with another of its kind.
 */
export class JobBook {
  readonly #tenant: string;
  readonly #source: JobSource;
  readonly #jobs: BookedJob[] = [];
  #ended = 0;
  #refused = 0;
  #nextStartAtMs: number | null = null;

  constructor(tenant: string, source: JobSource) {
    this.#tenant = tenant;
    this.#source = source;
  }

  get jobs(): readonly BookedJob[] {
    return this.#jobs;
  }

  get refused(): number {
    return this.#refused;
  }

  /** When the first job that waits is promised to start, as last read. */
  get nextStartAtMs(): number | null {
    return this.#nextStartAtMs;
  }

  async send(page: Page): Promise<void> {
    const answer = await this.#source.submit(page.file);
    if (answer.kind === 'refused') {
      this.#refused += 1;
      return;
    }
    // Stands until the job is read for the first time.
    const admittedAtMs = Date.now();
    this.#jobs.push({
      tenant: this.#tenant,
      cost: 1,
      id: answer.id,
      page,
      state: 'waiting',
      admittedAtMs,
      startedAtMs: null,
      endedAtMs: null,
    });
  }

  async refresh(): Promise<void> {
    let nextStartAtMs: number | null = null;
    for (let index = this.#ended; index < this.#jobs.length; index += 1) {
      const job = this.#jobs[index];
      if (job === undefined) break;
      const reading = await this.#source.job(job.id);
      this.#jobs[index] = updated(job, reading);
      if (reading.endedAtMs !== null && index === this.#ended) this.#ended += 1;
      if (reading.startedAtMs === null) {
        nextStartAtMs = reading.releaseAtMs;
        break;
      }
    }
    this.#nextStartAtMs = nextStartAtMs;
  }
}

function updated(job: BookedJob, reading: JobReading): BookedJob {
  const text = textOf(reading.result);
  return {
    ...job,
    state: reading.state,
    cost: reading.cost,
    admittedAtMs: reading.createdAtMs,
    startedAtMs: reading.startedAtMs,
    endedAtMs: reading.endedAtMs,
    ...(text === undefined ? {} : { text }),
    ...(reading.state === 'failed' ? { error: String(reading.error) } : {}),
  };
}

function textOf(result: unknown): string | undefined {
  if (typeof result !== 'object' || result === null || !('text' in result)) return undefined;
  return typeof result.text === 'string' ? result.text : undefined;
}
