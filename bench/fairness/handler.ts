import { setTimeout as delay } from 'node:timers/promises';

interface Job {
  readonly tenant: string;
  readonly data: { readonly ms: number };
  readonly options: { readonly upstream: string };
}

/** Tells the upstream that it starts, and holds its slot for as long as the payload says. */
export default {
  async run({ tenant, data, options }: Job): Promise<null> {
    await fetch(`${options.upstream}/${encodeURIComponent(tenant)}`);
    await delay(data.ms);
    return null;
  },
};
