import type { JobRecord } from '../case-file.js';
import { seenEnds } from '../job-ends.js';
import type { Judge, Violation } from '../judgement.js';

/**
 * G5, nothing lost: every job answered 202 was seen at an end, a completed one has run, and nothing ran that no answer
 * named, in a bucket that was not its own.
 *
 * A request without a certain answer may have stored one job: so many strangers may run in its bucket.
 */
export const judgeEnds: Judge = (file) => {
  const violations: Violation[] = [];
  const lose = (bucket: string, at: number, sentence: string) => {
    violations.push({ guarantee: 'G5', bucket, at, sentence });
  };
  for (const event of file.nameless) {
    lose(
      `${event.type}/${event.tenant}`,
      event.answeredAt,
      `a request was answered ${event.status} and no id, so that its job cannot be followed`,
    );
  }
  for (const job of file.jobs.values()) {
    const sentence = fault(job);
    if (sentence !== undefined)
      lose(job.bucket.name, job.sights.at(-1)?.answeredAt ?? job.admission.answeredAt, sentence);
    for (const run of job.runs) {
      const ranIn = file.bucketOf.get(run);
      if (ranIn === undefined || ranIn === job.bucket) continue;
      lose(ranIn.name, run.startAt, `job ${job.id} ran here and had been admitted to ${job.bucket.name}`);
    }
  }
  for (const bucket of file.buckets) {
    const strangers = new Map(bucket.runs.filter((run) => !file.jobs.has(run.job)).map((run) => [run.job, run]));
    const beyond = [...strangers.values()].slice(bucket.unknowns.length);
    for (const run of beyond) lose(bucket.name, run.startAt, `job ${run.job} ran, and no answer had ever named it`);
  }
  return { guarantee: 'G5', what: 'jobs followed to their ends', judged: file.jobs.size, excused: 0, violations };
};

function fault(job: JobRecord): string | undefined {
  const end = seenEnds(job)[0];
  if (end !== undefined) {
    const ran = job.runs.length > 0;
    return end.state === 'completed' && !ran ? `job ${job.id} is called completed and never ran` : undefined;
  }
  const last = job.sights.at(-1);
  if (last === undefined) return `job ${job.id} was answered ${job.admission.status} and nobody looked how it ended`;
  const found = last.state ?? `answered ${last.status}`;
  return `job ${job.id} was answered ${job.admission.status} and reached no end: last seen ${found}`;
}
