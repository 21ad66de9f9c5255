import { table } from '../remote.js';

/** One thing that the doctor looked at. */
export interface Finding {
  readonly about: 'node' | 'config' | 'handlers' | 'keys' | 'redis' | 'data' | 'api';
  /** `fault`: Headgate does not work, or may lose jobs. `warning`: it works, perhaps not as meant. */
  readonly level: 'ok' | 'warning' | 'fault';
  readonly says: string;
  /** What to do about it. */
  readonly mend?: string;
}

/** Findings for people: a line each, and beneath it how to mend what is wrong. */
export function findingLines(findings: readonly Finding[]): string[] {
  const heads = table(findings.map(({ level, about, says }) => [level, about, says]));
  return findings.flatMap(({ mend }, i) => [heads[i] ?? '', ...(mend === undefined ? [] : [`         mend: ${mend}`])]);
}
