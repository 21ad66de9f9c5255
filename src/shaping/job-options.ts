import { Packr } from 'msgpackr';

const packr = new Packr({ useRecords: false, encodeUndefinedAsNil: true });

/** BullMQ's options of a job, as its scripts unpack them (msgpack) and store them. */
export function packOptions(options: {
  readonly priority: number;
  readonly delayMs: number;
  readonly attempts: number;
}): Buffer {
  const { priority, delayMs, attempts } = options;
  return packr.pack({ priority, attempts, ...(delayMs > 0 && { delay: delayMs }) });
}
