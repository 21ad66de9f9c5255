import { extname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Config } from './config.js';
import type { ConfigFields } from './config-schema.js';
import { httpOptions, type Variables } from './http-options.js';
import { OptionFault, refuseUnknown } from './option-fault.js';
import type { ProblemList } from './problem-list.js';

type Options = Readonly<Record<string, unknown>>;
/** Throws OptionFault for the first option that is wrong; without variables any that is named is taken for set. */
type OptionsCheck = (options: Options, variables?: Variables) => void;

/** The handlers that come with Headgate by name, and what each makes of a type's `options`. */
const BUILT_IN: ReadonlyMap<string, OptionsCheck> = new Map<string, OptionsCheck>([
  ['echo', (options) => refuseUnknown(options, [], [])],
  ['http', (options, variables) => void httpOptions(options, variables)],
  ['ocr', checkOcr],
]);

export const BUILT_IN_NAMES: readonly string[] = [...BUILT_IN.keys()];

/** Where one is: beside this code, compiled when it is. */
export function builtInPath(name: string): string {
  const here = fileURLToPath(import.meta.url);
  return resolve(here, `../../../workers/handlers/${name}${extname(here)}`);
}

const CHECKS: ReadonlyMap<string, OptionsCheck> = new Map(
  [...BUILT_IN].map(([name, check]) => [builtInPath(name), check]),
);

/** Adds what is wrong with the options of types whose handler comes with Headgate. What the environment lacks is for the worker to say. */
export function checkHandlerOptions({ types }: ConfigFields, problems: ProblemList): void {
  for (const [name, { handler = '', options }] of types) {
    const path = ['types', name, 'options'];
    const fault = problems.soundWithin(path) ? faultOf(handler, options) : undefined;
    if (fault !== undefined) problems.add([...path, ...fault.path], fault.what);
  }
}

/** What handlers that come with Headgate would lack where these variables are all there are, a sentence each. */
export function missingVariables({ types }: Config, variables: Variables): string[] {
  return [...types.values()].flatMap(({ name, handler, options }) => {
    const fault = faultOf(handler ?? '', options, variables);
    return fault === undefined ? [] : [`types.${name}.${fault.message} where its workers run`];
  });
}

function faultOf(handler: string, options: Options, variables?: Variables): OptionFault | undefined {
  try {
    CHECKS.get(handler)?.(options, variables);
    return undefined;
  } catch (fault) {
    if (fault instanceof OptionFault) return fault;
    throw fault;
  }
}

function checkOcr(options: Options): void {
  refuseUnknown(options, [], ['pages']);
  const { pages } = options;
  if (pages === undefined || (typeof pages === 'string' && pages !== '')) return;
  throw new OptionFault(['pages'], 'expected the folder that data.page is below');
}
