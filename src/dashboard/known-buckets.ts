import type { BucketSurvey, SurveyedBucket } from '../shaping/bucket-survey.js';

/** Buckets of a type that are kept in mind. Those beyond are not looked at. */
const MOST = 10_000;
/** The first walk goes so many times as fast: until it is over, totals are wrong. */
const FIRST_WALK = 5;
/** Buckets that one page of a walk asks for. */
const PAGE = 100;

/**
 * The buckets of a type in which something is, as far as they were looked at. They are walked in turn, so many at each
 * reading: what a page shows is read every time, the others every few readings, and a walk later a bucket that is quiet
 * again is forgotten.
 */
export class KnownBuckets {
  readonly #survey: Pick<BucketSurvey, 'tenants' | 'buckets'>;
  readonly #type: string;
  readonly #known = new Map<string, SurveyedBucket>();
  #cursor: string | undefined;
  #hasWalked = false;
  /** Met since the walk began, and those of the walk before that have not been met again. */
  #met = new Set<string>();
  #doubtful: string[] = [];

  constructor(survey: Pick<BucketSurvey, 'tenants' | 'buckets'>, type: string) {
    this.#survey = survey;
    this.#type = type;
  }

  /** As each was found last. */
  get all(): readonly SurveyedBucket[] {
    return [...this.#known.values()];
  }

  get(tenant: string): SurveyedBucket | undefined {
    return this.#known.get(tenant);
  }

  /** Looks at `wanted`, and at about `usual` others. */
  async read(wanted: ReadonlySet<string>, usual: number): Promise<void> {
    const budget = this.#hasWalked ? usual : usual * FIRST_WALK;
    const tenants = new Set(wanted);
    for (const tenant of this.#doubtful.splice(0, budget)) tenants.add(tenant);
    while (tenants.size < wanted.size + budget) {
      const page = await this.#survey.tenants(this.#type, this.#cursor, Math.min(PAGE, budget));
      for (const tenant of page.tenants) {
        tenants.add(tenant);
        this.#met.add(tenant);
      }
      this.#cursor = page.cursor;
      if (page.cursor === undefined) {
        this.#endWalk();
        break;
      }
    }
    for (const bucket of await this.#survey.buckets(this.#type, [...tenants])) this.#keep(bucket, wanted);
  }

  #endWalk(): void {
    this.#hasWalked = true;
    this.#doubtful = [...this.#known.keys()].filter((tenant) => !this.#met.has(tenant));
    this.#met = new Set();
  }

  #keep(bucket: SurveyedBucket, wanted: ReadonlySet<string>): void {
    const { tenant, waiting, delayed, running, level } = bucket;
    const isQuiet = waiting + delayed + running === 0 && level === 0;
    if (isQuiet && !wanted.has(tenant)) this.#known.delete(tenant);
    else if (this.#known.has(tenant) || this.#known.size < MOST) this.#known.set(tenant, bucket);
  }
}
