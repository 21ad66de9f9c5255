import type { Config, TypeConfig } from '../src/config/config.js';
import { DELIVERY_TYPE } from '../src/config/delivery-type.js';
import type { WorkerOrder } from '../src/config/worker-order.js';
import { defineHandler, type Handler } from './handler.js';
import { HandlerLoadError, loadHandler } from './load-handler.js';

/** A type that this process serves. */
export interface ServedType {
  readonly config: TypeConfig;
  readonly handler: Handler;
  readonly slots: number;
  /** Why its handler cannot be used: every attempt fails for this reason. */
  readonly fault?: HandlerLoadError;
}

/** Slots of a type about which neither the command line nor the type's capacity says anything. */
const DEFAULT_SLOTS = 10;

/**
 * Loads the handlers of the types to serve; that of deliveries, which has none to load, is not among them. One that cannot be used is no reason not to serve the other types: its jobs
 * fail and say why. Throws one sentence when a type or a number of slots is wrong, or no handler can be used at all.
 */
export async function loadTypes(config: Config, args: WorkerOrder): Promise<ServedType[]> {
  const named = args.types?.filter((name) => name !== DELIVERY_TYPE);
  for (const name of [...(named ?? []), ...Object.keys(args.concurrency)]) {
    if (!config.types.has(name)) throw new Error(`type "${name}" is not configured; there are: ${list(config)}`);
  }
  const wanted = named ?? [...config.types.keys()].filter((name) => config.types.get(name)?.handler);
  const served: ServedType[] = [];
  for (const name of wanted) {
    const type = config.types.get(name);
    if (!type?.handler) throw new Error(`type "${name}" has no handler: set types.${name}.handler`);
    const slots = args.concurrency[name] ?? Math.min(type.capacity.concurrency, DEFAULT_SLOTS);
    served.push({ config: type, slots, ...(await loadedOrFailing(type, type.handler)) });
  }
  const [first] = served;
  if (first?.fault && served.every(({ fault }) => fault)) throw first.fault;
  return served;
}

async function loadedOrFailing(type: TypeConfig, path: string): Promise<Pick<ServedType, 'handler' | 'fault'>> {
  try {
    const handler = await loadHandler(path);
    checkOptions(handler, type);
    return { handler };
  } catch (fault) {
    if (!(fault instanceof HandlerLoadError)) throw fault;
    return { fault, handler: defineHandler({ run: () => Promise.reject(fault) }) };
  }
}

function checkOptions(handler: Handler, { name, options }: TypeConfig): void {
  try {
    handler.check?.(options);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new HandlerLoadError(`types.${name}.${reason}`, { cause: error });
  }
}

function list(config: Config): string {
  return [...config.types.keys()].join(', ') || 'none';
}
