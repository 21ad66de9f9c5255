import { asInteger, asList } from '../redis/reply.js';
import { describeScript } from '../redis/script.js';
import { readLibrary } from '../redis/script-source.js';

/** What the limits in Redis are asked with: `lua/check.lua` is `scripts.check`. A library of its own: it shares nothing with shaping. */
export const library = readLibrary([{ file: 'check' }, { file: 'refund' }]);

export const scripts = {
  /** Flat, in the form that the script's header states; read call by call where the calls are known. */
  check: describeScript(library, 'check', ['now', 'calls...'], asList),
  refund: describeScript(
    library,
    'refund',
    ['now', 'taken_at', 'limits', 'held...'],
    (reply) => asInteger(reply) === 1,
  ),
};
