/**
 * What BullMQ's scripts ask Redis though a library knows the answer: by script, the question as it stands in the text, and
 * the answer. Each that is not asked saves a hundredth of what a job costs.
 *
 * There are no flows and no deduplication, so no job has children, a parent or a key of that kind; jobs wait by priority, so
 * the plain list of those that wait is empty; whoever ends a job has looked whether it is there and how many attempts were
 * made, which is stored with its result. Nobody is told that a queue has become empty: all queues of a shard have one stream,
 * where that names none of them. New jobs have ids of ours, and admission has looked whether they are there; those of a request
 * join what waits together (lua/lib/joining). Numbers are written as texts: Redis prints each with all its digits first.
 */
const KNOWN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  moveToFinished: {
    'rcall("EXISTS", jobIdKey) == 1': 'true',
    'rcall("SCARD", jobIdKey .. ":dependencies")': '0',
    'rcall("ZCARD", jobIdKey .. ":unsuccessful")': '0',
    'rcall("LLEN", KEYS[1])': '0',
    'rcall("LLEN", KEYS[2])': '1',
    'rcall("HMGET", jobIdKey, "parentKey", "parent", "deid")': '{}',
    'rcall("LREM", KEYS[2], -1, jobId)': 'rcall("LREM", KEYS[2], "-1", jobId)',
    'rcall("HINCRBY", jobIdKey, "atm", 1)': "opts['made']",
    'rcall("HSET", jobIdKey, ARGV[3], ARGV[4], "finishedOn", timestamp)':
      'rcall("HSET", jobIdKey, ARGV[3], ARGV[4], "finishedOn", timestamp, "atm", attemptsMade)',
  },
  addPrioritizedJob: {
    'rcall("INCR", idKey)': "''",
    'rcall("EXISTS", jobIdKey) == 1': 'false',
    'addJobWithPriority( KEYS[1], priorityKey, priority, jobId, priorityCounterKey, isPausedOrMaxed)':
      'joining.add(priority, jobId)',
  },
  addDelayedJob: { 'rcall("INCR", idKey)': "''", 'rcall("EXISTS", jobIdKey) == 1': 'false' },
  moveToActive: { 'rcall("RPOPLPUSH", waitKey, activeKey)': 'nil' },
};

/** The text of BullMQ's script `name` with answers where it asked. Throws when it asks something else now. */
export function withKnownAnswers(name: string, text: string): string {
  return Object.entries(KNOWN[name] ?? {}).reduce((asking, [question, answer]) => {
    if (!asking.includes(question)) throw new Error(`BullMQ's script "${name}" does not ask ${question}`);
    return asking.replaceAll(question, answer);
  }, text);
}
