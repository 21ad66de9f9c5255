import { describe, expect, it } from 'vitest';
import { httpOptions } from '../../src/config/http-options.js';
import { isPublicAddress } from '../../src/model/public-address.js';

const url = 'https://api.example.com/v1';

describe('the options of the http handler', () => {
  it.each<[object, string]>([
    [{}, 'options.url: expected an http or https URL'],
    [{ url: 'file:///etc/passwd' }, 'options.url: expected an http or https URL'],
    [{ url: 'https://user:word@example.com' }, 'options.url: expected no user and password'],
    [{ url, method: 'TRACE' }, 'options.method: expected one of POST'],
    [{ url, verb: 'POST' }, 'options.verb: unknown'],
    [{ url, headers: [] }, 'options.headers: expected'],
    [{ url, headers: { host: 'other' } }, 'options.headers.host: expected none'],
    [{ url, headers: { 'a b': 'c' } }, 'options.headers.a b: expected the name'],
    [{ url, headers: { a: 1 } }, 'options.headers.a: expected a text'],
    [{ url, headers: { a: 'env:NOT_SET' } }, 'options.headers.a: expected the environment variable NOT_SET'],
    [{ url, headers: { a: 'env:BROKEN' } }, 'options.headers.a: expected characters that'],
    [{ url, cost: 'usage' }, 'options.cost: expected'],
    [{ url, cost: { from: 'a..b' } }, 'options.cost.from: expected'],
    [{ url, cost: { from: 'a', per: 0 } }, 'options.cost.per: expected'],
    [{ url, busyScope: 'all' }, 'options.busyScope: expected bucket or type'],
    [{ url, maxResponseBytes: 1_000_001 }, 'options.maxResponseBytes: expected'],
    [{ url, allowPrivate: 'yes' }, 'options.allowPrivate: expected true or false'],
  ])('%j: %s', (options, message) => {
    const read = () => httpOptions({ ...options }, { BROKEN: 'the-secret\n' });
    expect(read).toThrow(message);
    expect(read).not.toThrow('the-secret');
  });
});

describe('a public address', () => {
  it.each(['1.1.1.1', '93.184.216.34', '2606:4700:4700::1111'])('%s is one', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each([
    ...['0.0.0.0', '10.0.0.1', '100.64.0.1', '127.9.9.9', '169.254.169.254', '172.16.0.1', '192.168.1.1', '224.0.0.1'],
    ...['255.255.255.255', '::', '::1', '::7f00:1', 'fc00::1', 'fe80::1', 'fe80::1%lo', 'fec0::1', 'ff02::1'],
    ...['::ffff:127.0.0.1', '::ffff:8.8.8.8', '64:ff9b::7f00:1', '2002:7f00:1::', '2001::1', 'nonsense', ''],
  ])('%s is none', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});
