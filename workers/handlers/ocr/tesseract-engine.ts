import { Worker as Thread } from 'node:worker_threads';
import type { Engine } from './engine-pool.js';
import type { TesseractPackages } from './tesseract-packages.js';

/** The engine that reads lines with a neural network, as tesseract numbers its engines. */
const LSTM_ONLY = 1;

/**
 * Opens a tesseract in a thread of its own, from the installed packages alone. It takes half a second.
 *
 * tesseract.js leaves a caller waiting when the language data cannot be read, and throws into nowhere when a call fails
 * without an `errorHandler`; both become rejections here, and so does the death of the thread.
 */
export async function openTesseract(packages: TesseractPackages): Promise<Engine> {
  const { createWorker } = await import('tesseract.js');
  let fail = (_reason: Error): void => undefined;
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  failed.catch(() => undefined);
  const opened = createWorker('eng', LSTM_ONLY, {
    langPath: packages.languageFolder,
    gzip: true,
    cacheMethod: 'none',
    errorHandler: (reason: unknown) => fail(new Error(`tesseract: ${String(reason)}`)),
  });
  const tesseract = await Promise.race([opened, failed]);
  watchThread(tesseract, fail);
  return {
    recognize: async (image) => {
      const { data } = await Promise.race([tesseract.recognize(Buffer.from(image), {}, { text: true }), failed]);
      return { text: data.text.trimEnd(), confidence: data.confidence };
    },
    close: async () => {
      await tesseract.terminate();
    },
  };
}

function watchThread(tesseract: object, fail: (reason: Error) => void): void {
  if (!('worker' in tesseract) || !(tesseract.worker instanceof Thread)) return;
  tesseract.worker.on('error', (error: unknown) => fail(new Error('tesseract: its thread failed', { cause: error })));
  tesseract.worker.on('exit', (code) => fail(new Error(`tesseract: its thread ended with code ${code}`)));
}
