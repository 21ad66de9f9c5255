import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Engine, EnginePool } from '../../../workers/handlers/ocr/engine-pool.js';
import { openTesseract } from '../../../workers/handlers/ocr/tesseract-engine.js';
import { findTesseract } from '../../../workers/handlers/ocr/tesseract-packages.js';

/** A pool whose engines answer with their own number, and a record of which were closed. */
function countedPool() {
  const closed: number[] = [];
  let opened = 0;
  const pool = new EnginePool(async () => {
    opened += 1;
    const id = opened;
    return {
      recognize: async () => ({ text: String(id), confidence: 100 }),
      close: async () => void closed.push(id),
    };
  });
  return { pool, closed, opened: () => opened };
}

const never = new AbortController().signal;
const read = async (engine: Engine): Promise<string> => (await engine.recognize(Buffer.of())).text;

describe('the pool of engines', () => {
  it('opens none before a job comes, one for each that runs at the same time, and keeps them', async () => {
    const { pool, opened } = countedPool();
    expect(opened()).toBe(0);
    expect((await Promise.all([pool.use(never, read), pool.use(never, read)])).sort()).toEqual(['1', '2']);
    await Promise.all([pool.use(never, read), pool.use(never, read)]);
    expect(opened()).toBe(2);
  });

  it('does not use an engine again whose job failed', async () => {
    const { pool, closed } = countedPool();
    await expect(pool.use(never, () => Promise.reject(new Error('damaged')))).rejects.toThrow('damaged');
    expect(closed).toEqual([1]);
    expect(await pool.use(never, read)).toBe('2');
  });

  it('ends a job in the middle when it is told to stop, with the reason, and closes its engine', async () => {
    const { pool, closed } = countedPool();
    const stop = new AbortController();
    const forever = () => {
      stop.abort(new Error('cancelled'));
      return new Promise<never>(() => undefined);
    };
    await expect(pool.use(stop.signal, forever)).rejects.toThrow('cancelled');
    expect(closed).toEqual([1]);
  });

  it('closes idle and busy engines, and opens none afterwards', async () => {
    const { pool, closed, opened } = countedPool();
    await pool.use(never, read);
    let end = (): void => undefined;
    const busy = pool.use(
      never,
      () =>
        new Promise<void>((ended) => {
          end = ended;
        }),
    );
    const second = pool.use(never, read);
    await second;
    await pool.close();
    expect(closed.sort()).toEqual([1, 2]);
    end();
    await busy;
    await expect(pool.use(never, read)).rejects.toThrow('the engines are closed');
    expect(opened()).toBe(2);
  });

  it('stops a real recognition in the middle, and a new engine reads the page', async () => {
    const pool = new EnginePool(() => openTesseract(findTesseract()));
    const image = await readFile(resolve('bench/demo/pages/the-gate.png'));
    const stop = new AbortController();
    const interrupted = pool.use(stop.signal, (engine) => {
      const reading = engine.recognize(image);
      setImmediate(() => stop.abort(new Error('time is up')));
      return reading;
    });
    await expect(interrupted).rejects.toThrow('time is up');
    expect((await pool.use(never, (engine) => engine.recognize(image))).text).toMatch(/^The gate stands/);
    await pool.close();
  });
});
