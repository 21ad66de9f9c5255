import { SERVERS } from './servers.js';

/** `serve.ts SERVER SOCKET`: a server in a process of its own, which says its port and ends with its standard input. */
const [name = '', socketPath = ''] = process.argv.slice(2);
const start = SERVERS[name];
if (start === undefined) throw new Error(`no server ${name}; there are: ${Object.keys(SERVERS).join(', ')}`);
process.stdout.write(`${await start(socketPath)}\n`);
process.stdin.resume().once('end', () => process.exit(0));
