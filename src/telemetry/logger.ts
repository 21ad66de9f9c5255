import { type Logger, pino } from 'pino';
import pretty from 'pino-pretty';

export type { Logger };

/** Standard error: standard output belongs to what a command answers. */
const STDERR = 2;

/**
 * The log of one process: pretty in a terminal, JSON lines otherwise. Keys and payloads never go into it.
 *
 * @param level `info` unless the operator asks for another.
 */
export function createLogger(options: { readonly isTerminal: boolean; readonly level?: string }): Logger {
  const settings = { base: null, level: options.level ?? 'info', redact: ['req.headers.authorization'] };
  if (!options.isTerminal) return pino(settings, pino.destination({ dest: STDERR, sync: true }));
  return pino(
    settings,
    pretty({ destination: STDERR, sync: true, translateTime: 'SYS:HH:MM:ss.l', ignore: 'pid,hostname' }),
  );
}
