import { createRequire } from 'node:module';
import { runProgram } from './cli/program.js';

const { version } = createRequire(import.meta.url)('headgate/package.json');
process.exit(await runProgram(process.argv, version));
