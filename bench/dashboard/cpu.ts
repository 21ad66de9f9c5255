import { readFileSync } from 'node:fs';

/** Of the clock that Linux counts CPU by. */
const TICKS_PER_SECOND = 100;

/** Seconds of CPU that a process has used. */
export function cpuSeconds(pid: number): number {
  // The name of the program stands in brackets and may hold blanks.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}
