import { makeCertificates } from '../support/certificates.js';
import { startRedis, tlsArguments } from '../support/redis-server.js';
import { startSentinel } from '../support/sentinel.js';
import { freePort } from './support/free-port.js';
import { leastRightsSuite } from './support/least-rights-suite.js';

// On a master that a Sentinel names, both spoken to over TLS.
leastRightsSuite(async () => {
  const certificates = makeCertificates('redis.example');
  const tlsPort = await freePort();
  const master = await startRedis({ args: ['--tls-port', String(tlsPort), ...tlsArguments(certificates)] });
  const sentinel = await startSentinel({ name: 'main', port: tlsPort, quorum: 1, tls: certificates });
  const tls = { ca: certificates.ca, serverName: 'redis.example' };
  return {
    redis: { sentinel: { name: 'main', nodes: [`127.0.0.1:${sentinel.port}`] }, tls },
    further: [],
    roots: [master.client()],
    async stop() {
      await sentinel.stop();
      await master.stop();
      certificates.remove();
    },
  };
});
