import type { ScriptShard } from '../script-shard.js';
import type { Tenant } from './steps.js';
import type { Lists } from './watch.js';

/** What BullMQ's lists hold of each tenant's bucket, read at once. */
export async function shotsOfLists(
  shard: ScriptShard,
  tenants: readonly Tenant[],
): Promise<ReadonlyMap<Tenant, Lists>> {
  const pipeline = shard.redis.pipeline();
  for (const tenant of tenants) {
    pipeline.zrange(shard.queueKey(tenant, 'prioritized'), 0, -1);
    pipeline.zrange(shard.queueKey(tenant, 'delayed'), 0, -1);
    pipeline.lrange(shard.queueKey(tenant, 'active'), 0, -1);
    pipeline.zcard(shard.queueKey(tenant, 'completed'));
    pipeline.zcard(shard.queueKey(tenant, 'failed'));
  }
  const replies = ((await pipeline.exec()) ?? []).map(([error, reply]) => {
    if (error) throw error;
    return reply;
  });
  return new Map(
    tenants.map((tenant, i) => {
      const [waiting, delayed, active, completed, failed] = replies.slice(i * 5, i * 5 + 5);
      const ended = Number(completed) + Number(failed);
      return [tenant, { waiting: textsOf(waiting), delayed: textsOf(delayed), active: textsOf(active), ended }];
    }),
  );
}

function textsOf(reply: unknown): readonly string[] {
  if (!Array.isArray(reply)) throw new TypeError('expected a list from Redis');
  return reply.map(String);
}
