import { METHODS } from 'node:http';
import Type from 'typebox';
import { quantity, text } from './field.js';
import { name } from './name-field.js';
import { shortened } from './problem.js';
import { PATTERN_FORM, routePattern } from './route-pattern.js';

const METHOD_FORM = '"*" or the name of a method in capitals, such as GET or POST';

/** A route as the file states it. */
export const RouteFields = Type.Object({
  method: text<string>({
    decode: (method) =>
      method === '*' || METHODS.includes(method)
        ? { value: method }
        : { fault: `expected ${METHOD_FORM}; got ${JSON.stringify(shortened(method))}` },
    expected: METHOD_FORM,
    written: 'method',
    default: '*',
    defaultText: '*',
    description: 'The method of the request; `"*"` is any, in quotes, since a bare one means something else in YAML.',
  }),
  path: text<string>({
    decode: routePattern,
    expected: PATTERN_FORM,
    written: 'pattern',
    standIn: '',
    description:
      'Which paths: `:id` stands for one segment, a final `*` for all that follows. The most specific pattern counts.',
  }),
  policy: name('The policy that such requests are held to.'),
  cost: quantity('number', {
    least: 1e-6,
    most: 1e9,
    default: 1,
    description: 'Units that such a request takes.',
  }),
});
export type RouteFields = Type.Static<typeof RouteFields>;
