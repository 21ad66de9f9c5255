import { describe, expect, test } from 'vitest';
import { listenAddress } from '../../src/config/listen-address.js';
import { redisAddress } from '../../src/config/redis-address.js';

describe('an address of Redis', () => {
  test.each([
    ['redis://localhost', 'redis://localhost'],
    ['redis://localhost:6379/', 'redis://localhost:6379/'],
    ['redis://10.0.0.1:6379/15', 'redis://10.0.0.1:6379/15'],
    ['redis://:secret@[::1]:6379', 'redis://:secret@[::1]:6379'],
    ['rediss://user:p%2Fw@redis.example/0', 'rediss://user:p%2Fw@redis.example/0'],
    ['/run/redis.sock', '/run/redis.sock'],
    ['unix:///run/redis.sock', '/run/redis.sock'],
    ['./redis.sock', '/etc/headgate/redis.sock'],
    ['../run/a b.sock', '/etc/run/a b.sock'],
  ])('%s', (text, url) => {
    expect(redisAddress(text, '/etc/headgate')).toEqual({ value: { kind: 'server', url } });
  });

  test.each([
    'Embedded',
    'redis',
    'redis:',
    'redis://',
    'redis:///0',
    'redis://:6379',
    'redis://h:x',
    'redis://h:0',
    'redis://h:65536',
    'redis://h/x',
    'redis://h/-1',
    'redis://h/0/1',
    'redis://h?db=1',
    'redis://h#1',
    'redis://u%zz@h',
    'http://h',
    'h:6379',
    'redis.sock',
    '/',
    '//h:6379',
    'unix://',
    'unix://run/x',
    'unix:/run/x',
    'unix://./x',
    '/run/x?db=1',
    '/run/\0',
    ' redis://h',
    'sentinel://h',
    'redis-cluster://h',
    'REDIS://h',
  ])('not %j', (text) => {
    expect(redisAddress(text, '/etc/headgate')).toEqual({
      fault: expect.stringContaining('expected embedded, redis://HOST'),
    });
  });
});

describe('an address to listen on', () => {
  test.each([
    ['127.0.0.1:8080', '127.0.0.1', 8080],
    ['0.0.0.0:0', '0.0.0.0', 0],
    ['localhost:65535', 'localhost', 65_535],
    ['[::1]:80', '::1', 80],
    ['[::ffff:127.0.0.1]:80', '::ffff:127.0.0.1', 80],
  ])('%s', (text, host, port) => {
    expect(listenAddress(text)).toEqual({ value: { host, port } });
  });

  test.each([
    '',
    '8080',
    ':80',
    'h',
    'h:',
    'h:x',
    'h:-1',
    'h:65536',
    'h:080808',
    '::1:80',
    '[::1]',
    '[h]:80',
    'h:80 ',
    ' h:80',
    'a/b:80',
    'h:8e1',
  ])('not %j', (text) => {
    expect(listenAddress(text)).toEqual({ fault: expect.stringContaining('expected HOST:PORT') });
  });
});
