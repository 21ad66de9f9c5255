import { defineHandler } from '../handler.js';
import { EnginePool } from './ocr/engine-pool.js';
import { pageImage } from './ocr/page-image.js';
import { openTesseract } from './ocr/tesseract-engine.js';
import { findTesseract } from './ocr/tesseract-packages.js';

/** What the handler returns for a page. */
export interface OcrResult {
  /** The recognised English text, lines separated by newlines. */
  readonly text: string;
  /** The engine's own confidence, 0 to 100. */
  readonly confidence: number;
  /** Milliseconds that recognition took, waiting for an engine not included. */
  readonly ms: number;
}

const packages = findTesseract();
const engines = new EnginePool(() => openTesseract(packages));

/**
 * Reads printed English text from a PNG image.
 *
 * `data` is `{ page: '<path below options.pages>' }` or `{ image: '<PNG in base64>' }`; the result is an {@link OcrResult}.
 * Each job that runs at the same time has an engine (a thread, some 100 MB) of its own, opened when first needed and
 * kept until the worker closes. A job that is told to stop ends at once, and its engine with it.
 */
export default defineHandler({
  run: async (job, ctx): Promise<OcrResult> => {
    const image = await pageImage(job.data, job.options);
    return engines.use(ctx.signal, async (engine) => {
      const startedMs = performance.now();
      const { text, confidence } = await engine.recognize(image);
      return { text, confidence, ms: Math.round(performance.now() - startedMs) };
    });
  },
  close: () => engines.close(),
});
