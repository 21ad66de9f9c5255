import type { Cluster, Redis } from 'ioredis';
import { answersOf } from './answers-of.js';
import type { RedisLink } from './connection.js';

/** Masters that come together are told of once. */
const TOGETHER_MS = 500;

/** The servers that hold data: the masters of a cluster as far as they are known now, else the one server. */
export function mastersOf(redis: RedisLink): readonly Redis[] {
  return isCluster(redis) ? redis.nodes('master') : [redis];
}

export function isCluster(redis: RedisLink): redis is Cluster {
  return 'nodes' in redis;
}

/** Asks every master. Answers of those that are there; rejects as {@link answersOf} does. */
export async function askMasters<Reply>(redis: RedisLink, ask: (master: Redis) => Promise<Reply>): Promise<Reply[]> {
  const masters = mastersOf(redis);
  if (masters.length === 0) throw new Error('Connection is closed.');
  return (await answersOf(masters.map(ask))).filter((answer) => answer !== undefined);
}

/**
 * Calls `listener` whenever a server that holds data is there, or there again: what was not known of it before may have been
 * lost, or could not be brought to it. Returns how to stop.
 */
export function onServer(redis: RedisLink, listener: () => void): () => void {
  redis.on('ready', listener);
  if (!isCluster(redis)) return () => redis.off('ready', listener);
  let timer: NodeJS.Timeout | undefined;
  const onReady = (): void => {
    clearTimeout(timer);
    timer = setTimeout(listener, TOGETHER_MS).unref();
  };
  const onNode = (node: Redis): void => void node.on('ready', onReady);
  redis.on('+node', onNode);
  for (const node of redis.nodes()) onNode(node);
  return () => {
    redis.off('ready', listener).off('+node', onNode);
    for (const node of redis.nodes()) node.off('ready', onReady);
    clearTimeout(timer);
  };
}

/** Who answers of the servers that hold data. */
export interface Answering {
  readonly answering: number;
  readonly of: number;
}

/** Asks every server that holds data whether it is there, as a master. Resolves within so many milliseconds, and never rejects. */
export async function pingServers(redis: RedisLink, withinMs: number): Promise<Answering> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, withinMs, false);
  });
  const servers = serversOf(redis);
  const answers = servers.map((server) => Promise.race([late, isThere(server)]));
  const answering = (await Promise.all(answers)).filter(Boolean).length;
  clearTimeout(timer);
  return { answering, of: servers.length };
}

/** Who has a slot, as far as is known now: a master of the cluster, else the one server. `undefined` where none does, or it is away. */
export function ownersOf(redis: RedisLink): (slot: number) => Redis | undefined {
  if (!isCluster(redis)) return () => redis;
  const nodes = nodesByName(redis);
  return (slot) => nodes.get(redis.slots[slot]?.[0] ?? '');
}

function nodesByName(redis: Cluster): Map<string, Redis> {
  return new Map(redis.nodes().map((node) => [`${node.options.host}:${node.options.port}`, node]));
}

/** Masters by the slots that they have; `undefined` for one to which there is no connection. */
function serversOf(redis: RedisLink): readonly (Redis | undefined)[] {
  if (!isCluster(redis)) return [redis];
  const nodes = nodesByName(redis);
  const owners = new Set(redis.slots.map(([master]) => master));
  return owners.size === 0 ? [undefined] : [...owners].map((owner) => nodes.get(owner ?? ''));
}

/** A replica answers PING, too, and takes nothing; a server that may not write refuses PING alone. */
async function isThere(server: Redis | undefined): Promise<boolean> {
  try {
    const [pong, replication] = await Promise.all([server?.ping(), server?.info('replication')]);
    return pong !== undefined && /^role:master\r?$/m.test(replication ?? '');
  } catch {
    return false;
  }
}

export function allAnswer({ answering, of }: Answering): boolean {
  return answering === of;
}

/** The same in words for people. */
export function answeringText(answers: Answering): string {
  const { answering, of } = answers;
  if (allAnswer(answers)) return 'answers';
  return answering === 0 ? 'does not answer' : `${answering} of ${of} masters answer`;
}
