import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readPages } from '../../../bench/demo/pages.js';
import { isUnrecoverable } from '../../../workers/handler.js';
import { findTesseract } from '../../../workers/handlers/ocr/tesseract-packages.js';
import ocr from '../../../workers/handlers/ocr.js';
import { contextFor, jobWith } from './running.js';

const PAGES = resolve('bench/demo/pages');
const asked = (data: unknown, pages: unknown = PAGES) => jobWith({ data, options: { pages } });
const words = (text: string): string[] => text.split(/\s+/);

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'headgate-ocr-'));
});
afterAll(async () => {
  await ocr.close?.();
  await rm(folder, { recursive: true, force: true });
});

async function read(data: unknown): Promise<{ text: string; confidence: unknown; ms: unknown }> {
  const result = await ocr.run(asked(data), contextFor());
  if (typeof result !== 'object' || result === null) throw new Error(`no result: ${result}`);
  if (!('text' in result && typeof result.text === 'string')) throw new Error('no text in the result');
  if (!('confidence' in result && 'ms' in result)) throw new Error('no confidence or no time in the result');
  return { text: result.text, confidence: result.confidence, ms: result.ms };
}

async function faultOf(run: unknown): Promise<unknown> {
  return Promise.resolve(run).then(
    () => 'no fault',
    (error: unknown) => error,
  );
}

describe('the ocr handler', () => {
  it('reads pages that run at the same time, from a file and from base64', async () => {
    const [first, second] = await readPages();
    if (first === undefined || second === undefined) throw new Error('the demo has no pages');
    const image = (await readFile(join(PAGES, second.file))).toString('base64');
    const [ofFile, ofImage] = await Promise.all([read({ page: first.file }), read({ image })]);
    expect(words(ofFile.text)).toEqual(words(first.text));
    expect(words(ofImage.text)).toEqual(words(second.text));
    expect(ofFile.confidence).toBeGreaterThan(80);
    expect(ofFile.ms).toBeGreaterThan(0);
  });

  it('fails on an image that is damaged inside, and reads the next page all the same', async () => {
    const [page] = await readPages();
    const image = (await readFile(join(PAGES, page?.file ?? ''))).fill(0xff, 60, 2000).toString('base64');
    expect(await faultOf(ocr.run(asked({ image }), contextFor()))).toHaveProperty(
      'message',
      expect.stringMatching(/^tesseract: .*read image/),
    );
    expect((await read({ page: page?.file })).text).toMatch(/^The gate/);
  });
});

describe('the ocr handler refuses for good', () => {
  it.each([
    [null, /^data: expected \{ page/],
    ['frost.png', /^data: expected \{ page/],
    [{}, /^data: expected \{ page/],
    [{ image: 5 }, /^data\.image: expected a PNG in base64/],
    [{ image: 'not base64!' }, /^data\.image: expected a PNG in base64/],
    [{ image: Buffer.from('GIF89a').toString('base64') }, /^data\.image: expected a PNG image/],
    [
      { image: claiming(100_000, 100_000) },
      /^data\.image: expected an image of 1 to 50000000 pixels, found 10000000000/,
    ],
    [{ image: claiming(0, 10) }, /^data\.image: expected an image of 1 to/],
    [{ page: 5 }, /^data\.page: expected a path below/],
    [{ page: '' }, /^data\.page: expected a path below/],
    [{ page: 'a\0b' }, /^data\.page: expected a path below/],
    [{ page: '../pages.ts' }, /^data\.page: leads out/],
    [{ page: 'deep/../../pages.ts' }, /^data\.page: leads out/],
    [{ page: '../pages-of-others/x.png' }, /^data\.page: leads out/],
    [{ page: resolve(PAGES, 'frost.png') }, /^data\.page: leads out/],
    [{ page: '.' }, /^data\.page: leads out/],
    [{ page: 'absent.png' }, /^data\.page: there is no such page/],
    [{ page: 'frost.png/x' }, /^data\.page: there is no such page/],
    [{ page: 'x'.repeat(5000) }, /^data\.page: there is no such page/],
    [{ page: 'pages.json' }, /^data\.page: expected a PNG image/],
  ])('%.60j', async (data, message) => {
    const fault = await faultOf(ocr.run(asked(data), contextFor()));
    expect(isUnrecoverable(fault)).toBe(true);
    expect(fault).toHaveProperty('message', expect.stringMatching(message));
  });

  it('a page when the type has no folder of pages', async () => {
    const fault = await faultOf(ocr.run(jobWith({ data: { page: 'frost.png' } }), contextFor()));
    expect(isUnrecoverable(fault)).toBe(true);
    expect(fault).toHaveProperty('message', expect.stringMatching(/^options\.pages: expected the folder/));
  });

  it('a link that leads out of the folder, and what is no file', async () => {
    await symlink(resolve('package.json'), join(folder, 'link.png'));
    execFileSync('mkfifo', [join(folder, 'pipe.png')]);
    const link = await faultOf(ocr.run(asked({ page: 'link.png' }, folder), contextFor()));
    expect(link).toHaveProperty('message', 'data.page: leads out of the folder of pages');
    const pipe = await faultOf(ocr.run(asked({ page: 'pipe.png' }, folder), contextFor()));
    expect(pipe).toHaveProperty('message', 'data.page: expected a file, found something else');
  });
});

describe('where a package is missing', () => {
  const { resolve: installed } = createRequire(import.meta.url);
  it.each(['tesseract.js', '@tesseract.js-data/eng'])('%s is named, and the command that installs it', (missing) => {
    const without = (module: string): string => {
      if (module.startsWith(`${missing}/`)) throw new Error(`Cannot find module '${module}'`);
      return installed(module);
    };
    expect(() => findTesseract(without)).toThrow(
      `the ocr handler needs the package ${missing}; install it with: npm install tesseract.js@7.0.0 @tesseract.js-data/eng@1.0.0`,
    );
  });

  it('data without the English model is named too', () => {
    const elsewhere = (module: string): string => join(folder, module);
    expect(() => findTesseract(elsewhere)).toThrow(/finds no eng\.traineddata\.gz in .*; install it with: npm install/);
  });
});

/** The base64 of a PNG header that claims these dimensions. */
function claiming(width: number, height: number): string {
  const header = Buffer.alloc(33);
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]).copy(header);
  header.writeUInt32BE(width, 16);
  header.writeUInt32BE(height, 20);
  return header.toString('base64');
}
