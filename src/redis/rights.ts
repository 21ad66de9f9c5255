/**
 * What Headgate's user of Redis needs to be allowed (https://redis.io/docs/latest/operate/oss_and_stack/management/security/acl/):
 * these commands, on these keys and channels, and no others. A command with a bar is a subcommand.
 */
export interface Right {
  /** What the client or a script sends, on some key or channel. */
  readonly sample: string;
  readonly needs: 'nothing' | 'key' | 'channel';
}

/** All that Headgate's keys and channels begin with, behind the prefix of a shared server. */
export const NAME_PATTERNS = ['hg:*', '{hg:*'] as const;

/** Commands that Headgate sends itself. AUTH needs no right. */
export const DIRECT = [
  ...plain(
    'client setname x',
    'client id',
    'client unblock 1',
    'info memory',
    'ping',
    'function load x',
    'multi',
    'exec',
  ),
  ...onKeys(
    'fcall f 1 KEY',
    'get KEY',
    'getrange KEY 0 1',
    'hget KEY a',
    'hgetall KEY',
    'hmget KEY a',
    'hscan KEY 0',
    'hvals KEY',
    'mget KEY',
  ),
  ...onKeys('sadd KEY a', 'srem KEY a'),
  ...onKeys('smembers KEY', 'xdel KEY 0', 'xrange KEY - +', 'xread streams KEY 0', 'xrevrange KEY + -'),
  ...onKeys('zadd KEY 1 a', 'zrangebylex KEY - +', 'zrem KEY a', 'zrevrange KEY 0 1', 'zscan KEY 0', 'zscore KEY a'),
  ...onKeys('zremrangebyrank KEY 0 1', 'zremrangebyscore KEY 0 1', 'pexpire KEY 1'),
  ...onChannels('ssubscribe KEY'),
] as const;

/** Commands that its scripts call, with the rights of their caller. */
export const IN_SCRIPTS = [
  ...plain('time'),
  ...onKeys(
    'del KEY',
    'exists KEY',
    'get KEY',
    'hdel KEY a',
    'hexists KEY a',
    'hget KEY a',
    'hgetall KEY',
    'hincrby KEY a 1',
  ),
  ...onKeys(
    'hincrbyfloat KEY a 1',
    'hkeys KEY',
    'hlen KEY',
    'hmget KEY a',
    'hmset KEY a b',
    'hscan KEY 0',
    'hset KEY a b',
  ),
  ...onKeys(
    'hstrlen KEY a',
    'incr KEY',
    'incrby KEY 1',
    'llen KEY',
    'lpos KEY a',
    'lpush KEY a',
    'lrange KEY 0 1',
    'lrem KEY 1 a',
  ),
  ...onKeys('ltrim KEY 0 1', 'persist KEY', 'pexpire KEY 1', 'pttl KEY', 'rpush KEY a', 'sadd KEY a'),
  ...onKeys(
    'mget KEY',
    'scard KEY',
    'set KEY a',
    'setrange KEY 0 a',
    'srem KEY a',
    'xadd KEY * a b',
    'xrevrange KEY + -',
  ),
  ...onKeys('zadd KEY 1 a', 'zcard KEY', 'zcount KEY 0 1', 'zpopmin KEY', 'zrange KEY 0 1', 'zrangebyscore KEY 0 1'),
  ...onKeys('zrank KEY a', 'zrem KEY a', 'zremrangebyrank KEY 0 1', 'zremrangebyscore KEY 0 1', 'zrevrange KEY 0 1'),
  ...onKeys('zrevrangebyscore KEY 1 0', 'zscore KEY a'),
  ...onChannels('spublish KEY a'),
] as const;

/** Commands that only some configurations need, and which. */
export const SOMETIMES = [
  { command: 'select', when: 'a database other than 0' },
  { command: 'wait', when: '`waitForReplicas`' },
  { command: 'cluster|info', when: 'a cluster' },
  { command: 'cluster|slots', when: 'a cluster' },
  { command: 'readonly', when: 'a cluster' },
  { command: 'asking', when: 'a cluster' },
  { command: 'client|list', when: '`headgate migrate`' },
  { command: 'function|delete', when: '`headgate migrate`' },
  { command: 'function|list', when: '`headgate migrate`' },
  { command: 'scan', when: '`headgate migrate`' },
] as const;

const SUBCOMMANDS = new Set(['client', 'function']);

/** A right's command as an ACL rule has it. */
export function commandOf({ sample }: Right): string {
  const [command = '', sub = ''] = sample.split(' ');
  return SUBCOMMANDS.has(command) ? `${command}|${sub}` : command;
}

/** Names of all commands that are always needed, in order, each once. */
export function neededCommands(): string[] {
  return [...new Set([...DIRECT, ...IN_SCRIPTS].map(commandOf))].toSorted();
}

/** The rules of `ACL SETUSER` that grant all of it, and nothing more. */
export function aclRules(keyPrefix = '', further: readonly string[] = []): string[] {
  return [
    ...['resetkeys', ...NAME_PATTERNS.map((pattern) => `~${keyPrefix}${pattern}`)],
    ...['resetchannels', ...NAME_PATTERNS.map((pattern) => `&${keyPrefix}${pattern}`)],
    ...['-@all', ...[...neededCommands(), ...further].map((command) => `+${command}`)],
  ];
}

function plain(...samples: string[]): Right[] {
  return samples.map((sample) => ({ sample, needs: 'nothing' }));
}

function onKeys(...samples: string[]): Right[] {
  return samples.map((sample) => ({ sample, needs: 'key' }));
}

function onChannels(...samples: string[]): Right[] {
  return samples.map((sample) => ({ sample, needs: 'channel' }));
}
