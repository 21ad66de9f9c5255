/**
 * What BullMQ's scripts ask Redis though a library knows the answer: by script, the question as it stands in the text, and
 * the answer. Each that is not asked saves a hundredth of what a job costs.
 *
 * There are no flows, so no job has children; jobs wait by priority, so the plain list of those that wait is empty; whoever
 * ends a job has looked whether it is there.
 */
const KNOWN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  moveToFinished: {
    'rcall("EXISTS", jobIdKey) == 1': 'true',
    'rcall("SCARD", jobIdKey .. ":dependencies")': '0',
    'rcall("ZCARD", jobIdKey .. ":unsuccessful")': '0',
    'rcall("LLEN", KEYS[1])': '0',
  },
  moveToActive: { 'rcall("RPOPLPUSH", waitKey, activeKey)': 'nil' },
};

/** The text of BullMQ's script `name` with answers where it asked. Throws when it asks something else now. */
export function withKnownAnswers(name: string, text: string): string {
  return Object.entries(KNOWN[name] ?? {}).reduce((asking, [question, answer]) => {
    if (!asking.includes(question)) throw new Error(`BullMQ's script "${name}" does not ask ${question}`);
    return asking.replaceAll(question, answer);
  }, text);
}
