import { setTimeout as pause } from 'node:timers/promises';
import { encodeTenant, queuePrefix, shardTag } from '../../src/redis/keys.js';
import type { ChaosSystem } from './chaos-system.js';
import { CAPS, TENANTS, TERMS } from './terms.js';

const EVERY_MS = 100;

/** What was found by looking into Redis over and over, past the proxy. */
export interface Samples {
  taken: number;
  /** A sentence for each that held more than a cap. */
  readonly overCap: string[];
  /** A sentence for each that held more waiting than the depth and what may have come back from running. */
  readonly overDepth: string[];
}

/** Samples BullMQ's own lists until stopped. */
export function sampleLists(system: ChaosSystem): { readonly samples: Samples; stop(): Promise<void> } {
  const samples: Samples = { taken: 0, overCap: [], overDepth: [] };
  let stopped = false;
  const going = (async () => {
    while (!stopped) {
      await sample(system, samples).catch(() => undefined); // Redis is away: nothing is seen.
      await pause(EVERY_MS);
    }
  })();
  return {
    samples,
    stop: async () => {
      stopped = true;
      await going;
    },
  };
}

async function sample({ redis, refereed: { referee } }: ChaosSystem, samples: Samples): Promise<void> {
  const client = redis.client({
    lazyConnect: true,
    maxRetriesPerRequest: 0,
    commandTimeout: 1000,
    retryStrategy: () => null,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    for (const [type, cap] of Object.entries(CAPS)) {
      const queues = TENANTS.map((tenant) => `${queuePrefix(shardTag(type))}:${encodeTenant(tenant)}`);
      const sentAt = referee.now();
      // One transaction: all of it at one instant.
      const batch = client.multi();
      for (const queue of queues) batch.llen(`${queue}:active`).zcard(`${queue}:prioritized`).zcard(`${queue}:delayed`);
      const counts = ((await batch.exec()) ?? []).map(([, count]) => Number(count));
      const answeredAt = referee.now();
      const times = { sentAt, answeredAt };
      const running = TENANTS.map((_, each) => counts[3 * each] ?? 0);
      const waiting = TENANTS.map((_, each) => (counts[3 * each + 1] ?? 0) + (counts[3 * each + 2] ?? 0));
      const total = running.reduce((sum, each) => sum + each, 0);
      samples.taken += 1;
      const seen = `${type} at ${Math.round(answeredAt)}: of ${TENANTS.join(', ')}`;
      if (total > cap || running.some((each) => each > TERMS.concurrency)) {
        samples.overCap.push(
          `${seen} run ${running.join(', ')}, where ${TERMS.concurrency} may of each and ${cap} of all`,
        );
      }
      if (waiting.some((each) => each > TERMS.depth + TERMS.concurrency)) {
        samples.overDepth.push(`${seen} wait ${waiting.join(', ')}, where ${TERMS.depth} may`);
      }
      referee.recordSample({ type, tenant: null, running: total, ...times });
      for (const [each, tenant] of TENANTS.entries()) {
        referee.recordSample({ type, tenant, running: running[each] ?? 0, ...times });
      }
    }
  } finally {
    client.disconnect();
  }
}
