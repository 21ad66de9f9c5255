import type { JobView, StartPromise } from '../model/verdict.js';
import { eventText } from './event-text.js';
import { jobResource, promiseFields } from './job-answer.js';

/** A promised start that moves by less is not worth a word: it is the largest slack that a bucket has unless stated. */
const MOVED_MS = 250;

/** Tells a follower what is new about a job since he was last told: its state, how far it is, when it will start. */
export class JobChanges {
  #told: JobView | undefined;
  #promised: StartPromise | null = null;

  /** The messages that bring the follower from what he knows to `job`. */
  since(job: JobView): string[] {
    const told = this.#told;
    this.#told = job;
    if (told === undefined || isAnotherState(told, job)) {
      this.#promised = job.promise;
      return [eventText('state', jobResource(job))];
    }
    const messages: string[] = [];
    if (job.promise !== null && hasMoved(this.#promised, job.promise)) {
      messages.push(
        eventText('promise', { ...promiseFields(job.promise), movedMs: movedMs(this.#promised, job.promise) }),
      );
      this.#promised = job.promise;
    }
    if (JSON.stringify(job.progress) !== JSON.stringify(told.progress)) {
      messages.push(eventText('progress', { progress: job.progress }));
    }
    return messages;
  }
}

function isAnotherState(told: JobView, job: JobView): boolean {
  return (
    told.state !== job.state ||
    told.attemptsMade !== job.attemptsMade ||
    told.startedAtMs !== job.startedAtMs ||
    told.cancelRequested !== job.cancelRequested
  );
}

function hasMoved(promised: StartPromise | null, now: StartPromise): boolean {
  if (promised === null || promised.basis !== now.basis) return true;
  if (promised.releaseAtMs === now.releaseAtMs) return false;
  return !(Math.abs(now.releaseAtMs - promised.releaseAtMs) < MOVED_MS);
}

/** Later by so much, or earlier where it is below 0; `null` from or to a time that nobody knows. */
function movedMs(promised: StartPromise | null, now: StartPromise): number | null {
  const moved = now.releaseAtMs - (promised?.releaseAtMs ?? Infinity);
  return Number.isFinite(moved) ? Math.ceil(moved) : null;
}
