import { afterEach, expect, test } from 'vitest';
import type { Remote } from '../../src/cli/remote.js';
import { progressLine, watchJob } from '../../src/cli/watch-job.js';
import { HeadgateClient } from '../../src/client/index.js';
import { type ScriptedServer, scriptedServer } from '../client/support.js';

const STATE = '{"id":"j","state":"active","position":null,"releaseAt":null,"waitMs":null,"basis":null,"attempts":1}';
const EVENTS = [
  ['state', STATE],
  ['progress', '{"progress":0.5}'],
  ['output', '{"run":1,"chunk":"a\\n"}'],
  ['end', '{"id":"j","state":"completed","result":7}'],
];

let server: ScriptedServer | undefined;
afterEach(() => server?.close());

async function watched(isTTY: boolean): Promise<string> {
  server = await scriptedServer((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(EVENTS.map(([event, data]) => `event: ${event}\ndata: ${data}\n\n`).join(''));
  });
  const client = new HeadgateClient({ url: server.url, key: 'k' });
  const remote: Remote = { client, json: false, print: () => undefined };
  let text = '';
  const job = await watchJob(remote, 'j', { isTTY, write: (more) => (text += more) });
  expect(job).toMatchObject({ state: 'completed' });
  return text;
}

test('on a terminal one line says how things are, and what is emitted scrolls above it', async () => {
  const bar = `[${'='.repeat(12)}${' '.repeat(12)}] 50 %`;
  const clear = '\r\x1b[K';
  expect(await watched(true)).toBe(
    [`${clear}active`, `${clear}${bar}`, `${clear}a\n${bar}`, `${clear}completed: 7\n`].join(''),
  );
});

test('elsewhere every event is a plain line', async () => {
  expect(await watched(false)).toBe('active\nprogress 0.5\na\ncompleted: 7\n');
});

test.each([
  [0, `[${' '.repeat(24)}] 0 %`],
  [1, `[${'='.repeat(24)}] 100 %`],
  [25, `[${'='.repeat(6)}${' '.repeat(18)}] 25 %`],
  [{ page: 2 }, 'progress {"page":2}'],
  [-1, 'progress -1'],
])('progress of %j is %s', (progress, line) => {
  expect(progressLine(progress)).toBe(line);
});
