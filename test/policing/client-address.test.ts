import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { clientAddress } from '../../src/policing/client-address.js';

describe('the address of a client', () => {
  test.each([
    ['IPv4', '203.0.113.7', '203.0.113.7'],
    ['IPv4 with a port', '203.0.113.7:51000', '203.0.113.7'],
    ['IPv4 mapped into IPv6', '::ffff:203.0.113.7', '203.0.113.7'],
    ['IPv4 mapped, in hex', '::ffff:cb00:7107', '203.0.113.7'],
    ['IPv4 mapped, in capitals and in full', '0:0:0:0:0:FFFF:CB00:7107', '203.0.113.7'],
    ['IPv4 mapped, with a port', '[::ffff:203.0.113.7]:443', '203.0.113.7'],
    ['IPv4 behind a translator', '64:ff9b::203.0.113.7', '203.0.113.7'],
    ['IPv4 behind another kind of translator', '::ffff:0:203.0.113.7', '203.0.113.7'],
    ['IPv6', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['IPv6, short', '2001:db8::1', '2001:db8::/64'],
    ['IPv6 in capitals with zeros', '2001:0DB8:0001:0002::00FF', '2001:db8:1:2::/64'],
    ['IPv6 in brackets', '[2001:db8:1:2::1]', '2001:db8:1:2::/64'],
    ['IPv6 with a port', '[2001:db8:1:2::1]:8080', '2001:db8:1:2::/64'],
    ['IPv6 that ends like a port', '2001:db8:1:2::1:8080', '2001:db8:1:2::/64'],
    ['IPv6 with a zone', 'fe80::1%eth0', 'fe80::/64'],
    ['IPv6 with a zone of its own kind', 'fe80::1%eth0.100', 'fe80::/64'],
    ['IPv6 with a zone and a port', '[fe80::1%2]:80', 'fe80::/64'],
    ['the loopback of IPv4', '127.0.0.1', '127.0.0.1'],
    ['the loopback of IPv6', '::1', '::/64'],
    ['an address that only ends like IPv4', '::203.0.113.7', '::/64'],
    ['one that was written like this already', '2001:db8:1:2::/64', '2001:db8:1:2::/64'],
  ])('%s: %s is %s', (_, text, address) => {
    expect(clientAddress(text)).toBe(address);
  });

  test.each([
    ['nothing', ''],
    ['a name', 'localhost'],
    ['what proxies say of nobody', 'unknown'],
    ['a socket', 'unix:'],
    ['octal', '010.0.0.1'],
    ['hex', '0x7f.0.0.1'],
    ['three parts', '127.0.1'],
    ['a number', '2130706433'],
    ['too large a part', '256.0.0.1'],
    ['octal in IPv6', '::ffff:010.0.0.1'],
    ['a blank in front', ' 203.0.113.7'],
    ['a line break behind', '203.0.113.7\n'],
    ['a list', '203.0.113.7, 203.0.113.8'],
    ['IPv4 in brackets', '[203.0.113.7]'],
    ['IPv4 with a zone', '203.0.113.7%eth0'],
    ['a network of IPv4', '203.0.113.0/24'],
    ['a network of IPv6 that is no subscriber', '2001:db8::/32'],
    ['a port alone', ':80'],
    ['two gaps', '1::2::3'],
    ['nine groups', '1:2:3:4:5:6:7:8:9'],
    ['an open bracket', '[2001:db8::1'],
    ['much text', `::1%${'a'.repeat(1e6)}`],
  ])('is none: %s', (_, text) => {
    expect(clientAddress(text)).toBeUndefined();
  });

  test('is one for all of a /64, and another for the next', () => {
    const group = fc.integer({ min: 0, max: 0xffff }).map((n) => n.toString(16));
    const groups = fc.array(group, { minLength: 4, maxLength: 4 });
    fc.assert(
      fc.property(groups, groups, groups, (network, one, other) => {
        const [a, b] = [one, other].map((host) => clientAddress([...network, ...host].join(':')));
        // 64:ff9b::/96 and the mapped addresses are IPv4.
        if (network.slice(1).every((each) => each === '0')) return;
        expect(a).toBe(b);
        expect(a).toMatch(/\/64$/);
        expect(clientAddress(a ?? '')).toBe(a);
      }),
    );
  });

  test('is found in any text without a throw', () => {
    const text = fc.string({
      unit: fc.constantFrom('1', '2', 'f', '.', ':', '::', '[', ']', '%', '/', '64', ' '),
      maxLength: 20,
    });
    fc.assert(
      fc.property(text, (each) => {
        const address = clientAddress(each);
        if (address !== undefined) expect(clientAddress(address)).toBe(address);
      }),
      { numRuns: 1500 },
    );
  });
});
