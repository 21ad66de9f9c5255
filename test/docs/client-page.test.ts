import { afterAll, beforeAll, expect, test } from 'vitest';
import { HeadgateFolder, type HeadgateProcess } from '../support/headgate-process.js';
import { pageExample, runExample } from './page-example.js';

let folder: HeadgateFolder;
let headgate: HeadgateProcess;

beforeAll(async () => {
  folder = await HeadgateFolder.create({ types: { echo: { handler: 'echo' } } });
  headgate = await folder.start('start');
});
afterAll(() => folder?.remove());

test('the example of the page prints what the page says', async () => {
  const example = await pageExample('client.md', 'client');
  const env = { HEADGATE_URL: headgate.url, HEADGATE_KEY: headgate.demoKey };
  expect(await runExample(example, 'client', env)).toBe(example.prints);
}, 180_000);
