import type { Config, TypeConfig } from '../src/config/config.js';
import type { WorkerOrder } from '../src/config/worker-order.js';
import type { Handler } from './handler.js';
import { loadHandler } from './load-handler.js';

/** A type that this process serves. */
export interface ServedType {
  readonly config: TypeConfig;
  readonly handler: Handler;
  readonly slots: number;
}

/** Slots of a type about which neither the command line nor the type's capacity says anything. */
const DEFAULT_SLOTS = 10;

/** Loads the handlers of the types to serve. Throws one sentence when a type, a handler or a number of slots is wrong. */
export async function loadTypes(config: Config, args: WorkerOrder): Promise<ServedType[]> {
  for (const name of [...(args.types ?? []), ...Object.keys(args.concurrency)]) {
    if (!config.types.has(name)) throw new Error(`type "${name}" is not configured; there are: ${list(config)}`);
  }
  const wanted = args.types ?? [...config.types.keys()].filter((name) => config.types.get(name)?.handler);
  const served: ServedType[] = [];
  for (const name of wanted) {
    const type = config.types.get(name);
    if (!type?.handler) throw new Error(`type "${name}" has no handler: set types.${name}.handler`);
    const slots = args.concurrency[name] ?? Math.min(type.capacity.concurrency, DEFAULT_SLOTS);
    served.push({ config: type, handler: await loadHandler(type.handler), slots });
  }
  return served;
}

function list(config: Config): string {
  return [...config.types.keys()].join(', ') || 'none';
}
