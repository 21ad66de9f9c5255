import { once } from 'node:events';
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import { closeConnection, openConnection, untilReady } from '../../src/redis/connection.js';
import { isCluster } from '../../src/redis/masters.js';
import type { ClusterTarget } from '../../src/redis/redis-target.js';
import { Subscriber } from '../../src/redis/subscriber.js';

/** When what waits for the other end of a connection has given that up. */
const AFTER_MS = 1000;

const [target = '', ...channels] = process.argv.slice(2);
const cluster: ClusterTarget = JSON.parse(target);
const link = openConnection(cluster, { name: 'child', deadlineMs: 60_000 });
await untilReady(link);
// At first it takes one master for that of all slots, so that most is asked of it in vain.
if (isCluster(link)) link.slots.fill(link.slots[0] ?? []);
const subscriber = new Subscriber(link);
subscriber.onSubscribed(() => process.send?.(['listening']));
for (const channel of channels) subscriber.subscribe(channel, () => undefined);

await once(process, 'message');
closeConnection(link);
if (link.status !== 'end') await once(link, 'end');
await pause(AFTER_MS);
await turn();
process.send?.(['closed', process.getActiveResourcesInfo().filter((resource) => /Timeout|TCP/.test(resource))]);
