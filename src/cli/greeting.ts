import type { FirstKeys } from './first-keys.js';

/** What can be tried at once: the first type and the first policy of the configuration. */
export interface First {
  readonly type: string | undefined;
  readonly policy: string | undefined;
}

/** What a person sees once everything is up: the address, the keys, and a line that works when pasted. */
export function greeting(url: string, keys: FirstKeys, first: First): string {
  const lines = [`Headgate is ready on ${url}`, ''];
  if (keys.isNew) {
    if (keys.adminKey) lines.push(`  admin key  ${keys.adminKey}`);
    if (keys.demoKey) lines.push(`  demo key   ${keys.demoKey}  (tenant "demo")`);
    lines.push(`  made at this first start; they stay in ${keys.file}`, '');
  } else if (keys.adminKey || keys.demoKey) {
    lines.push(`  keys       ${keys.file}`, '');
  }
  const { type, policy } = first;
  if (type !== undefined) {
    lines.push('Send a job:', '', `  ${curlLine(url, keys, '/v1/jobs', { type, data: { hello: 'world' } })}`, '');
  } else if (policy !== undefined) {
    lines.push('Ask a policy:', '', `  ${curlLine(url, keys, '/v1/check', { policy, key: 'somebody' })}`, '');
  }
  return `${lines.join('\n')}\n`;
}

function curlLine(url: string, keys: FirstKeys, path: string, body: object): string {
  const key = keys.demoKey ?? keys.adminKey ?? 'A_KEY_OF_YOUR_CONFIGURATION';
  const named = keys.demoKey === undefined && keys.adminKey !== undefined ? { tenant: 'demo' } : {};
  const json = JSON.stringify({ ...body, ...named });
  return `curl -s ${reachable(url)}${path} -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '${json}'`;
}

/** Whoever listens on every address is reached on this machine by loopback. */
function reachable(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}
