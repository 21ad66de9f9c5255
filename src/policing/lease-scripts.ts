import { limitKeys } from '../redis/keys.js';
import { asInteger, asList, asNumber, asText, asWord } from '../redis/reply.js';
import { describeScript } from '../redis/script.js';
import { readLibrary } from '../redis/script-source.js';
import type { AppliedLimit } from './policer.js';

/** What Redis said of a request for units in advance; instants of the server's clock stay the server's. */
export type LeaseReply =
  | {
      readonly kind: 'granted';
      readonly units: number;
      /** Comes back with units that were not used: it tells what they are still worth. */
      readonly tatUs: number;
      /** Units that are left for all. */
      readonly left: number;
    }
  | { readonly kind: 'empty'; readonly waitUs: number; readonly left: number };

/** Units in advance: a library of its own, which only processes with leased policies load. */
export const library = readLibrary([{ file: 'lease' }, { file: 'return_lease' }]);

export const scripts = {
  lease: describeScript(library, 'lease', ['now', 'process', 'lease', 'requests...'], readLeases),
  returnLease: describeScript(
    library,
    'return_lease',
    ['now', 'process', 'stays', 'emission', 'burst', 'lease', 'returns...'],
    asNumber,
  ),
};

/** The key of a bucket whose units are taken in advance; never that of the same limit counted in Redis itself. */
export function leaseKey(limit: AppliedLimit): string {
  return `${limitKeys([limit], false)[0]}:lease`;
}

/** What was said of each bucket; an error is of that bucket alone. */
function readLeases(reply: unknown): readonly (LeaseReply | Error)[] {
  return asList(reply).map(readLease);
}

function readLease(reply: unknown): LeaseReply | Error {
  const [tag, first, second, third] = asList(reply);
  const kind = asWord(tag, ['granted', 'empty', 'failed']);
  if (kind === 'failed') return new Error(asText(first));
  if (kind === 'empty') return { kind, waitUs: asInteger(first), left: asNumber(second) };
  return { kind, units: asNumber(first), tatUs: asNumber(second), left: asNumber(third) };
}
