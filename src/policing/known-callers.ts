import type { Caller } from './policing.js';

/** Those of one tenant, one address, or nobody in particular: without a key of the caller's own, and by that. */
interface Family<Value> {
  alone: Value | undefined;
  readonly byKey: Map<string, Value>;
}

/**
 * Callers that are remembered, at most: to make a subject and to hash it anew at every call costs as much as the decision in
 * the process. When there are more, all are forgotten and begin again.
 */
const REMEMBERED = 10_000;
/** No tenant's id is longer, and no address; whoever has a longer key is not remembered. */
const LONGEST = 128;

/** What is known of callers, by who they are: tenant or else address, and the key within it. Bounded. */
export class KnownCallers<Value> {
  #byTenant = new Map<string, Family<Value>>();
  #byAddress = new Map<string, Family<Value>>();
  #nobody = newFamily<Value>();
  #size = 0;

  /** What is known of the caller, or else what `make` says, which is then known. */
  of(caller: Caller, make: (caller: Caller) => Value): Value {
    const { tenant, address, key } = caller;
    const family =
      tenant !== undefined
        ? this.#byTenant.get(tenant)
        : address !== undefined
          ? this.#byAddress.get(address)
          : this.#nobody;
    const known = family && (key === undefined ? family.alone : family.byKey.get(key));
    return known ?? this.#remember(caller, make(caller));
  }

  #remember(caller: Caller, value: Value): Value {
    const { tenant, address, key } = caller;
    if ((tenant ?? address ?? '').length > LONGEST || (key ?? '').length > LONGEST) return value;
    if (this.#size >= REMEMBERED) this.#forgetAll();
    this.#size += 1;
    const family = this.#familyOf(tenant, address);
    if (key === undefined) family.alone = value;
    else family.byKey.set(key, value);
    return value;
  }

  #familyOf(tenant: string | undefined, address: string | undefined): Family<Value> {
    const name = tenant ?? address;
    if (name === undefined) return this.#nobody;
    const families = tenant !== undefined ? this.#byTenant : this.#byAddress;
    let family = families.get(name);
    if (family === undefined) {
      family = newFamily();
      families.set(name, family);
    }
    return family;
  }

  #forgetAll(): void {
    this.#byTenant.clear();
    this.#byAddress.clear();
    this.#nobody = newFamily();
    this.#size = 0;
  }
}

function newFamily<Value>(): Family<Value> {
  return { alone: undefined, byKey: new Map() };
}
