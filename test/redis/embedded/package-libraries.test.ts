import { expect, test } from 'vitest';
import { packageLibraries } from '../../../src/redis/embedded/package-libraries.js';

test('takes libraries through libraries, the first of alternatives, and never the C library', () => {
  const output = `redis-server
  PreDepends: init-system-helpers
  Depends: redis-tools
redis-tools
  Depends: adduser
  Depends: libc6
  Depends: liblzf1
 |Depends: libsystemd0
  Depends: libelogind0
    a-provider
  Depends: lua-cjson
adduser
  Depends: libpam0g
libsystemd0
  PreDepends: libzstd1
  Depends: liblzf1
lua-cjson
  Depends: liblua5.1-0
<virtual>
  Depends: libnever1
`;
  expect(packageLibraries(output, ['redis-server', 'redis-tools'])).toEqual([
    'liblzf1',
    'libsystemd0',
    'libzstd1',
    'lua-cjson',
    'liblua5.1-0',
  ]);
});
