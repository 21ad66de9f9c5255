import type { FirstKeys } from './first-keys.js';

/** What a person sees once everything is up: the address, the keys, and a line that works when pasted. */
export function greeting(url: string, keys: FirstKeys, firstType: string | undefined): string {
  const lines = [`Headgate is ready on ${url}`, ''];
  if (keys.isNew) {
    if (keys.adminKey) lines.push(`  admin key  ${keys.adminKey}`);
    if (keys.demoKey) lines.push(`  demo key   ${keys.demoKey}  (tenant "demo")`);
    lines.push(`  made at this first start; they stay in ${keys.file}`, '');
  } else if (keys.adminKey || keys.demoKey) {
    lines.push(`  keys       ${keys.file}`, '');
  }
  if (firstType !== undefined) lines.push('Send a job:', '', `  ${curlLine(url, keys, firstType)}`, '');
  return `${lines.join('\n')}\n`;
}

function curlLine(url: string, keys: FirstKeys, type: string): string {
  const key = keys.demoKey ?? keys.adminKey ?? 'A_KEY_OF_YOUR_CONFIGURATION';
  const named = keys.demoKey === undefined && keys.adminKey !== undefined ? { tenant: 'demo' } : {};
  const body = JSON.stringify({ type, ...named, data: { hello: 'world' } });
  return `curl -s ${reachable(url)}/v1/jobs -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '${body}'`;
}

/** Whoever listens on every address is reached on this machine by loopback. */
function reachable(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}
