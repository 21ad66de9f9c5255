// The referee as a process of its own: started by a parent with an IPC channel, which it tells its address and every
// event, and with which it ends, so that no test leaves it behind.
import process from 'node:process';
import { createJiti } from 'jiti';

const { startRefereeServer } = await createJiti(import.meta.url).import('./referee-server.ts');

const server = await startRefereeServer((event) => process.send?.({ event }));
process.once('disconnect', () => void server.close().then(() => process.exit(0)));
process.send?.({ url: server.url });
