/**
 * @typedef {object} Job as `GET /v1/jobs/:id` answers
 * @property {string} id
 * @property {string} type
 * @property {string} tenant
 * @property {string} state
 * @property {number | null} position
 * @property {string | null} releaseAt
 * @property {number | null} waitMs
 * @property {string | null} basis
 * @property {number} priority
 * @property {number} cost
 * @property {string | null} createdAt
 * @property {string | null} startedAt
 * @property {number | null} slipMs
 * @property {string | null} endedAt
 * @property {string | null} startBy
 * @property {number} attempts
 * @property {boolean} cancelRequested
 * @property {unknown} progress
 * @property {unknown} [result]
 * @property {string} [error]
 *
 * @typedef {object} Station a moment in the life of a job
 * @property {string} name
 * @property {number | null} atMs `null` while nobody can say when
 * @property {'past' | 'now' | 'ahead'} when
 * @property {string} note
 */

const ENDS = ['completed', 'failed', 'expired', 'cancelled'];

/** @param {string} state */
export function hasEnded(state) {
  return ENDS.includes(state);
}

/**
 * The life of a job as a line: admitted, released, retried, started (of several times, the last), progress, end.
 *
 * @param {Job} job
 * @returns {Station[]}
 */
export function lifeOfJob(job) {
  const created = atMs(job.createdAt);
  const started = atMs(job.startedAt);
  const ended = hasEnded(job.state);
  return [
    { name: 'admitted', atMs: created, when: 'past', note: `priority ${job.priority}, cost ${job.cost}` },
    released(job, started),
    ...(job.attempts > 1 ? [retried(job)] : []),
    ...(ended && started === null ? [] : [start(job, started)]),
    ...(started !== null && job.progress !== null && job.progress !== 0 ? [progress(job)] : []),
    end(job),
  ];
}

/** @param {Job} job @param {number | null} started @returns {Station} */
function released(job, started) {
  if (started !== null && job.slipMs !== null) {
    const late = job.slipMs > 0 ? `started ${job.slipMs} ms after it` : 'started on time';
    return { name: 'released', atMs: started - job.slipMs, when: 'past', note: late };
  }
  const at = atMs(job.releaseAt);
  if (started !== null || hasEnded(job.state)) {
    return { name: 'released', atMs: started, when: 'past', note: started === null ? 'never' : 'at its start' };
  }
  const place = job.position === null ? job.state : `position ${job.position}`;
  return { name: 'released', atMs: at, when: 'now', note: job.basis === null ? place : `${place}, by ${job.basis}` };
}

/** @param {Job} job @param {number | null} started @returns {Station} */
function start({ state }, started) {
  if (started === null) return { name: 'started', atMs: null, when: 'ahead', note: 'when its turn comes' };
  return {
    name: 'started',
    atMs: started,
    when: state === 'active' ? 'now' : 'past',
    note: state === 'active' ? 'runs' : '',
  };
}

/** @param {Job} job @returns {Station} */
function retried({ attempts, state }) {
  const again = attempts - 1;
  const note = `${attempts} attempts, ${again} ${again === 1 ? 'retry' : 'retries'}`;
  return { name: 'retried', atMs: null, when: state === 'waiting' || state === 'delayed' ? 'now' : 'past', note };
}

/** @param {Job} job @returns {Station} */
function progress({ progress, state }) {
  const note = typeof progress === 'number' ? `${progress} %` : JSON.stringify(progress);
  return { name: 'progress', atMs: null, when: state === 'active' ? 'now' : 'past', note };
}

/** @param {Job} job @returns {Station} */
function end({ state, endedAt, cancelRequested, error }) {
  if (!hasEnded(state)) return { name: 'end', atMs: null, when: 'ahead', note: cancelRequested ? 'asked to stop' : '' };
  return { name: state, atMs: atMs(endedAt), when: 'past', note: error ?? '' };
}

/** @param {string | null} at */
function atMs(at) {
  return at === null ? null : Date.parse(at);
}
