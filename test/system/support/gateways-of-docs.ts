import { pageSnippet } from '../../docs/page-snippet.js';
import type { TestApplication } from './application.js';
import { startCaddy } from './caddy.js';
import { freePort } from './free-port.js';
import { startNginx } from './nginx.js';

/** What everybody has to fill in, and what a test changes. */
export interface GatewayParts {
  readonly headgate: string;
  readonly application: Pick<TestApplication, 'port'>;
  readonly gatewayKey: string;
  /** In place of `policy=api`. */
  readonly query?: string;
  /** With what docs/forward-auth.md says for letting pass while Headgate is away. */
  readonly open?: boolean;
}

export interface Gateway {
  readonly url: string;
  stop(): Promise<void>;
}

/** nginx with the configuration of docs/forward-auth.md, but for what everybody has to fill in. */
export async function startNginxOfDocs(parts: GatewayParts): Promise<Gateway> {
  const port = await freePort();
  const config = await openSnippet('nginx');
  const { fillIn } = config;
  if (parts.open === true) {
    fillIn('        internal;\n', `        internal;\n${await pageSnippet('forward-auth.md', 'nginx-open')}`);
    const location = await pageSnippet('forward-auth.md', 'nginx-open-location');
    fillIn('    location @headgate_fault {', `${location}    location @headgate_fault {`);
  }
  fillIn('127.0.0.1:8080', new URL(parts.headgate).host);
  fillIn('127.0.0.1:3000', `127.0.0.1:${parts.application.port}`);
  fillIn('listen 80;', `listen 127.0.0.1:${port};`);
  fillIn('GATEWAY_KEY', parts.gatewayKey);
  fillIn('policy=api', parts.query ?? 'policy=api');
  const nginx = await startNginx(config.text());
  return { url: `http://127.0.0.1:${port}`, stop: () => nginx.stop() };
}

/** Caddy with the configuration of docs/forward-auth.md, but for what everybody has to fill in. */
export async function startCaddyOfDocs(parts: Omit<GatewayParts, 'open'>): Promise<Gateway> {
  const port = await freePort();
  const { fillIn, text } = await openSnippet('caddy');
  fillIn('app.example.com {', `http://:${port} {\n\tbind 127.0.0.1`);
  fillIn('127.0.0.1:8080', new URL(parts.headgate).host);
  fillIn('127.0.0.1:3000', `127.0.0.1:${parts.application.port}`);
  fillIn('GATEWAY_KEY', parts.gatewayKey);
  fillIn('policy=api', parts.query ?? 'policy=api');
  const caddy = await startCaddy(text());
  return { url: `http://127.0.0.1:${port}`, stop: () => caddy.stop() };
}

async function openSnippet(name: string) {
  let snippet = await pageSnippet('forward-auth.md', name);
  return {
    text: () => snippet,
    /** Puts `value` in the place of a text that stands there once. */
    fillIn(text: string, value: string): void {
      if (snippet.split(text).length !== 2) throw new Error(`the snippet does not have "${text}" once`);
      snippet = snippet.replace(text, () => value);
    },
  };
}
