import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Where the installed packages hold what recognition needs, so that nothing is fetched at run time. */
export interface TesseractPackages {
  /** The folder of `eng.traineddata.gz`. */
  readonly languageFolder: string;
}

const NEEDED = 'npm install tesseract.js@7.0.0 @tesseract.js-data/eng@1.0.0';

/**
 * Finds tesseract.js and its English data from where this file stands.
 * @param resolve Where a module of a package is, as Node's own resolution says.
 * @throws Error that names the missing package and the command that installs it.
 */
export function findTesseract(
  resolve: (module: string) => string = createRequire(import.meta.url).resolve,
): TesseractPackages {
  const packageFolder = (name: string): string => {
    try {
      return dirname(resolve(`${name}/package.json`));
    } catch (error) {
      throw new Error(`the ocr handler needs the package ${name}; install it with: ${NEEDED}`, { cause: error });
    }
  };
  packageFolder('tesseract.js');
  // The package holds two models; this one is for the LSTM engine alone, a quarter of the size of the other.
  const languageFolder = join(packageFolder('@tesseract.js-data/eng'), '4.0.0_best_int');
  if (!existsSync(join(languageFolder, 'eng.traineddata.gz'))) {
    throw new Error(`the ocr handler finds no eng.traineddata.gz in ${languageFolder}; install it with: ${NEEDED}`);
  }
  return { languageFolder };
}
