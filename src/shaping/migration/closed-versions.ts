import { closeLibraries, type ListedLibrary } from '../../redis/close-libraries.js';
import type { RedisLink } from '../../redis/connection.js';
import { library as permits } from '../permit-scripts.js';
import { library as shaping } from '../scripts.js';
import { STORED_FORMAT } from '../stored-data.js';
import { library as surveys } from '../survey-scripts.js';

const REASON = `the data of jobs was brought forward to format ${STORED_FORMAT}, which this version of Headgate does not read: end this process`;

/** `dispatch`, `touch_job_promote`: what depends on the form of the data, in versions whose libraries did not say of which form they are. */
const VERBS: readonly string[] = [shaping, permits, surveys].flatMap(({ functions }) => [...functions.keys()]);

/** Closes the scripts of every version that reads older data, so that none of its processes can go on with what comes. */
export function closeOlderVersions(redis: RedisLink): Promise<readonly string[]> {
  return closeLibraries(redis, isOlder, REASON);
}

/** Whether a library reads older data than this version does. */
export function isOlder({ name, functions }: ListedLibrary): boolean {
  const [, form] = /^headgate_f(\d+)_/.exec(name) ?? [];
  if (form !== undefined) return Number(form) < STORED_FORMAT;
  return functions.some((each) => each.startsWith('touch_') || VERBS.includes(each.replace(/_[0-9a-f]+$/, '')));
}
