import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Files of an authority and of a server's certificate that it signed, in a folder of their own. */
export interface TestCertificates {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  remove(): void;
}

/** Makes an authority and a certificate for `name`, good for two days. */
export function makeCertificates(name: string): TestCertificates {
  const dir = mkdtempSync(join(tmpdir(), 'hg-certs-'));
  const at = (file: string): string => join(dir, file);
  const openssl = (...args: string[]): void => {
    execFileSync('openssl', args, { stdio: 'ignore' });
  };
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl(
    'req',
    '-x509',
    ...newKey,
    '-days',
    '2',
    '-subj',
    '/CN=an authority',
    '-keyout',
    at('ca.key'),
    '-out',
    at('ca.pem'),
  );
  openssl('req', ...newKey, '-subj', `/CN=${name}`, '-keyout', at('key.pem'), '-out', at('request.pem'));
  writeFileSync(at('extensions'), `subjectAltName=DNS:${name}`);
  openssl(
    ...['x509', '-req', '-in', at('request.pem'), '-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial'],
    ...['-days', '2', '-extfile', at('extensions'), '-out', at('cert.pem')],
  );
  return {
    ca: at('ca.pem'),
    cert: at('cert.pem'),
    key: at('key.pem'),
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}
