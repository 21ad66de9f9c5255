/** Tenants of whom one in a hundred, at least one, is a hundred times as busy as each of the others. */
export interface Population {
  readonly light: readonly string[];
  readonly heavy: readonly string[];
  readonly all: readonly string[];
}

/** How much busier a heavy tenant is than a light one. */
export const SKEW = 100;

export function population(tenants: number): Population {
  const heavy = Array.from({ length: Math.max(1, Math.round(tenants / 100)) }, (_, i) => `heavy${i}`);
  const light = Array.from({ length: tenants - heavy.length }, (_, i) => `light${i}`);
  return { light, heavy, all: [...heavy, ...light] };
}
