// Loaded into a process before its program: at SIGUSR2 it collects its garbage, and says what is left of it in memory. A
// collector that is late on a busy machine is no leak.
const { setFlagsFromString } = require('node:v8');
const { runInNewContext } = require('node:vm');

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

process.on('SIGUSR2', () => {
  collect();
  process.stdout.write(`${JSON.stringify({ resident: process.memoryUsage.rss() })}\n`);
});
