import type { OpenContender } from './contender.js';
import { openBullmq } from './contenders/bullmq.js';
import { openGroupmq } from './contenders/groupmq.js';
import { openHeadgate } from './contenders/headgate.js';
import { openWorkerPerTenant } from './contenders/worker-per-tenant.js';

interface Entry {
  readonly open: OpenContender;
  /** Most tenants that it was asked for: each needs a connection where each has a Worker. */
  readonly maxTenants: number;
}

/** Who is compared, by the name in the tables. */
export const CONTENDERS: Readonly<Record<string, Entry>> = {
  Headgate: { open: openHeadgate, maxTenants: Number.POSITIVE_INFINITY },
  'one BullMQ queue': { open: openBullmq, maxTenants: Number.POSITIVE_INFINITY },
  GroupMQ: { open: openGroupmq, maxTenants: Number.POSITIVE_INFINITY },
  'one BullMQ Worker per tenant': { open: openWorkerPerTenant, maxTenants: 1000 },
};

/** Opens the contender of that name. */
export function contender(name: string): OpenContender {
  const entry = CONTENDERS[name];
  if (!entry) throw new Error(`no contender ${name}; there are: ${Object.keys(CONTENDERS).join(', ')}`);
  return entry.open;
}
