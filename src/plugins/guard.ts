import { clientAddress } from '../policing/client-address.js';
import type { Caller, Decision, Policing } from '../policing/policing.js';
import type { RouteTable } from '../policing/route-table.js';
import type { Cost, HeadgateOptions, HeldTo } from './plugin-options.js';
import { isCost } from './read-options.js';

/** What a guard stands on. */
export interface GuardParts<Request> {
  readonly policing: Policing;
  readonly routes: RouteTable;
  readonly options: Pick<HeadgateOptions<Request, never>, 'policy' | 'cost' | 'caller' | 'skip'>;
  /** The client's address as the framework knows it. */
  readonly addressOf: (request: Request) => string | undefined;
}

/** The line of a request: what it asks for. */
export interface RequestLine {
  readonly method: string;
  /** With or without a query. */
  readonly url: string;
}

/**
 * Has every request decided that is held to a policy. It never decides by itself: where it cannot tell what a request
 * costs or who calls, it rejects, and the request must not go on.
 */
export class Guard<Request> {
  readonly #parts: GuardParts<Request>;

  constructor(parts: GuardParts<Request>) {
    this.#parts = parts;
  }

  /** Whether there is a policy of this name. */
  has(policy: string): boolean {
    return this.#parts.policing.has(policy);
  }

  /**
   * The decision on a request, or `undefined` when it is held to nothing.
   *
   * @param held What the request is held to, in place of what the options say.
   * @throws TypeError when `cost` or `caller` give something that cannot be, and what these throw themselves.
   */
  async decide(request: Request, line: RequestLine, held?: Partial<HeldTo<Request>>): Promise<Decision | undefined> {
    const { policing, options } = this.#parts;
    if (options.skip?.(request) === true) return undefined;
    const stated = this.#heldTo(line);
    const { policy, cost } = held === undefined ? stated : { ...stated, ...held };
    if (policy === undefined) return undefined;
    if (!policing.has(policy)) throw new TypeError(`headgate: there is no policy "${policy}"`);
    const units = cost === undefined ? 1 : await unitsOf(request, cost);
    return policing.decide({ policy, cost: units, caller: await this.#callerOf(request) });
  }

  #heldTo({ method, url }: RequestLine): Partial<HeldTo<Request>> {
    const { routes, options } = this.#parts;
    const route = routes.find(method, url);
    if (route !== undefined) return { policy: route.policy, cost: route.cost };
    return {
      ...(options.policy === undefined ? {} : { policy: options.policy }),
      ...(options.cost === undefined ? {} : { cost: options.cost }),
    };
  }

  async #callerOf(request: Request): Promise<Caller> {
    const { options, addressOf } = this.#parts;
    const caller = options.caller === undefined ? { address: addressOf(request) } : await options.caller(request);
    return checkedCaller(caller);
  }
}

const NAMES = ['tenant', 'tier', 'address', 'key'] as const;

/** A caller of whom something is known, with its address in the one way in which addresses are written. */
function checkedCaller(caller: { readonly [Name in (typeof NAMES)[number]]?: unknown }): Caller {
  const checked: { -readonly [Name in keyof Caller]: Caller[Name] } = {};
  for (const name of NAMES) {
    const value = caller[name];
    if (value === undefined) continue;
    if (typeof value !== 'string' || value === '') throw new TypeError(`headgate: the caller's ${name} is not a text`);
    checked[name] = value;
  }
  if (checked.address !== undefined) {
    const address = clientAddress(checked.address);
    if (address === undefined) throw new TypeError("headgate: the caller's address is not that of a client");
    checked.address = address;
  }
  if (checked.tenant === undefined && checked.address === undefined && checked.key === undefined) {
    throw new TypeError('headgate: nothing is known of the caller; state `caller`');
  }
  return checked;
}

async function unitsOf<Request>(request: Request, cost: Cost<Request>): Promise<number> {
  const units: unknown = typeof cost === 'function' ? await cost(request) : cost;
  if (!isCost(units)) throw new TypeError(`headgate: a cost is a number from 1e-6 to 1e9; got ${String(units)}`);
  return units;
}
