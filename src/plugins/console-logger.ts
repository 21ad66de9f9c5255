import type { OutageLogger } from '../policing/outage-log.js';

/** Tells the console: an outage that begins must not go unseen because nobody thought of a logger. */
export const consoleLogger: OutageLogger = {
  warn: (detail, message) => console.warn(`headgate: ${message}`, detail),
  info: (detail, message) => console.info(`headgate: ${message}`, detail),
};
