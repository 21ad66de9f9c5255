import { SOMETIMES } from '../../src/redis/rights.js';
import { makeCertificates } from '../support/certificates.js';
import { startCluster } from '../support/redis-cluster.js';
import { leastRightsSuite } from './support/least-rights-suite.js';

// On a cluster that is spoken to over TLS.
leastRightsSuite(async () => {
  const certificates = makeCertificates('redis.example');
  const cluster = await startCluster(3, false, certificates);
  const nodes = cluster.addresses.map(({ host, port }) => `${host}:${port}`);
  return {
    redis: { cluster: nodes, tls: { ca: certificates.ca, serverName: 'redis.example' } },
    further: SOMETIMES.flatMap(({ command, when }) => (when === 'a cluster' ? [command] : [])),
    roots: cluster.nodes.map((node) => node.client()),
    async stop() {
      await cluster.stop();
      certificates.remove();
    },
  };
});
