import { field, numberField } from '../../referee/json-field.js';
import type { RefereedSystem } from './refereed-system.js';

/** How many jobs of a type run, over all tenants, by `GET /v1/types`. */
export async function runningOf({ get }: RefereedSystem, url: string, type: string): Promise<number> {
  const types = field(await get(url, '/v1/types?tenant=anyone'), 'types');
  const found: unknown = Array.isArray(types) ? types.find((each) => field(each, 'type') === type) : undefined;
  return numberField(found, 'running') ?? Number.NaN;
}

/** How many jobs of one bucket run, by `GET /v1/limits`. */
async function runningOfBucket({ get }: RefereedSystem, url: string, type: string, tenant: string): Promise<number> {
  const limits = field(await get(url, `/v1/limits?tenant=${encodeURIComponent(tenant)}&type=${type}`), 'limits');
  const [found]: unknown[] = Array.isArray(limits) ? limits : [];
  return numberField(found, 'running') ?? Number.NaN;
}

/** Tells the referee, over and over until it is stopped, how many jobs run: of the type and of each tenant. */
export function sampleRunning(
  system: RefereedSystem,
  url: string,
  type: string,
  tenants: readonly string[],
): { stop(): Promise<void> } {
  let stopped = false;
  const sample = async (tenant: string | null): Promise<void> => {
    const sentAt = system.referee.now();
    const running = await (tenant === null ? runningOf(system, url, type) : runningOfBucket(system, url, type, tenant));
    if (Number.isNaN(running)) throw new Error(`the API does not say how many jobs of ${type}/${tenant ?? '*'} run`);
    system.referee.recordSample({ type, tenant, running, sentAt, answeredAt: system.referee.now() });
  };
  const sampling = (async () => {
    while (!stopped) for (const tenant of [null, ...tenants]) await sample(tenant);
  })();
  // What went wrong is told by stop().
  sampling.catch(() => undefined);
  return {
    stop: () => {
      stopped = true;
      return sampling;
    },
  };
}
