import { readFile, realpath, stat } from 'node:fs/promises';
import { isAbsolute, resolve, sep } from 'node:path';
import { Unrecoverable } from '../../handler.js';

const MAX_BYTES = 32 * 1024 * 1024;
/** An A4 page at 600 dpi has 35 million. A small file can claim billions, and the engine would allocate them. */
const MAX_PIXELS = 50_000_000;
const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/**
 * The PNG that a job is about: `{ image }` in base64, or `{ page }` as a path below `options.pages`.
 * @throws Unrecoverable that names the field when the payload will never be good.
 */
export async function pageImage(data: unknown, options: Readonly<Record<string, unknown>>): Promise<Uint8Array> {
  const { page, image } = fields(data);
  if (image !== undefined) return checkedPng('data.image', decoded(image));
  if (page === undefined) throw new Unrecoverable('data: expected { page: <path> } or { image: <PNG in base64> }');
  return checkedPng('data.page', await pageFile(page, options.pages));
}

function fields(data: unknown): { page?: unknown; image?: unknown } {
  return typeof data === 'object' && data !== null ? data : {};
}

function decoded(image: unknown): Buffer {
  if (typeof image !== 'string' || !/^[A-Za-z0-9+/]+={0,2}$/.test(image)) {
    throw new Unrecoverable('data.image: expected a PNG in base64');
  }
  return Buffer.from(image, 'base64');
}

async function pageFile(page: unknown, folder: unknown): Promise<Buffer> {
  if (typeof folder !== 'string' || folder === '') {
    throw new Unrecoverable('options.pages: expected the folder that data.page is below; this type has none');
  }
  if (typeof page !== 'string' || page === '' || page.includes('\0')) {
    throw new Unrecoverable('data.page: expected a path below the folder of pages');
  }
  const root = await realpath(resolve(folder));
  const asked = resolve(root, page);
  if (isAbsolute(page) || !isBelow(root, asked)) throw outside();
  const file = await realpath(asked).catch(missingPage);
  // Checked again: a link below the folder may point out of it.
  if (!isBelow(root, file)) throw outside();
  const { size } = await fileStat(file);
  if (size > MAX_BYTES) throw new Unrecoverable(`data.page: at most ${MAX_BYTES} bytes, found ${size}`);
  return readFile(file);
}

function isBelow(root: string, file: string): boolean {
  return file.startsWith(root.endsWith(sep) ? root : root + sep);
}

async function fileStat(file: string): Promise<{ readonly size: number }> {
  const found = await stat(file).catch(missingPage);
  if (!found.isFile()) throw new Unrecoverable('data.page: expected a file, found something else');
  return found;
}

function outside(): Unrecoverable {
  return new Unrecoverable('data.page: leads out of the folder of pages');
}

function missingPage(error: unknown): never {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ENAMETOOLONG' || code === 'ELOOP') {
    throw new Unrecoverable('data.page: there is no such page', { cause: error });
  }
  throw error;
}

function checkedPng(field: string, bytes: Buffer): Buffer {
  if (bytes.length < 33 || !bytes.subarray(0, 8).equals(PNG_SIGNATURE)) {
    throw new Unrecoverable(`${field}: expected a PNG image`);
  }
  // The first chunk of a PNG holds its width and height.
  const pixels = bytes.readUInt32BE(16) * bytes.readUInt32BE(20);
  if (pixels < 1 || pixels > MAX_PIXELS) {
    throw new Unrecoverable(`${field}: expected an image of 1 to ${MAX_PIXELS} pixels, found ${pixels}`);
  }
  return bytes;
}
