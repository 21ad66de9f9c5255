import { NO_SERVICE, type Service } from '../../src/model/service.js';

/** What lua/lib/type.lua and lua/lib/bucket.lua pack: little-endian doubles, then for a bucket four integers and a byte. */
const TYPE = [
  'last',
  'offset',
  'tat',
  'running',
  'v',
  'maxfin',
  'busy',
  'capped',
  'expiry',
  'held',
  'weights',
  'ran_us',
  'ran',
  'served',
  'served_at',
  'T',
  'burst',
  'conc',
  'slack',
  'paused',
];
export const BUCKET_DOUBLES = [
  ...[
    'given_T',
    'given_jT',
    'burst',
    'slack',
    'weight',
    'conc',
    'pace',
    'depth',
    'maxb',
    'maxw',
    'tat',
    'jtat',
    'finish',
  ],
  ...[
    'T',
    'jT',
    'bytes',
    'delayed_at',
    'w1',
    'w2',
    'w3',
    'w4',
    'w5',
    'w6',
    'w7',
    'w8',
    'w9',
    'w10',
    'paid_cost',
    'held',
    'served',
    'deserved',
    'share_at',
    'share_v',
  ],
];

/** Numbers by name; all of them 0 when nothing is stored. */
export type Stored = (name: string) => number;

/** What lua/lib/service.lua packs behind the type; nothing until something was measured. */
const WINDOWS = [0, 1, 2];
const PACE = ['started', ...WINDOWS.flatMap((i) => [`span${i}`, `work${i}`, `starts${i}`, `advance${i}`])];
const BANDS = 6;

export function typeOf(bytes: unknown): Stored {
  return lookup(doubles(bytes, TYPE));
}

/** What was measured of a type's service. */
export function serviceOf(bytes: unknown): Service {
  const type = typeOf(bytes);
  const ran = { ranUs: type('ran_us'), ran: type('ran') };
  if (!Buffer.isBuffer(bytes) || bytes.length <= 8 * TYPE.length) return { ...NO_SERVICE, ...ran };
  const measured = bytes.subarray(8 * TYPE.length);
  const pace = lookup(doubles(measured, PACE));
  const factor = (i: number): number => measured.readDoubleLE(8 * (PACE.length + i));
  const bands = [...Array(BANDS).keys()].map((i) => ({
    low: factor(4 * i),
    middle: factor(4 * i + 1),
    high: factor(4 * i + 2),
    seen: factor(4 * i + 3),
  }));
  const windows = WINDOWS.map((i) => ({
    spanUs: pace(`span${i}`),
    work: pace(`work${i}`),
    starts: pace(`starts${i}`),
    advance: pace(`advance${i}`),
  }));
  return { startedAtUs: pace('started'), windows, bands, ...ran };
}

export function bucketOf(bytes: unknown): Stored {
  const fields = doubles(bytes, BUCKET_DOUBLES);
  if (Buffer.isBuffer(bytes)) {
    const at = 8 * BUCKET_DOUBLES.length;
    fields.set('active', bytes.readUInt32LE(at));
    fields.set('waiting', bytes.readUInt32LE(at + 4));
    fields.set('odd', bytes.readUInt32LE(at + 8));
    fields.set('paid', bytes.readUInt32LE(at + 12));
    fields.set('flags', bytes.readUInt8(at + 16));
  }
  return lookup(fields);
}

/** The bucket with one of its numbers replaced, to be stored by hand. */
export function withDouble(bytes: Buffer, name: string, value: number): Buffer {
  const changed = Buffer.from(bytes);
  changed.writeDoubleLE(value, 8 * BUCKET_DOUBLES.indexOf(name));
  return changed;
}

function doubles(bytes: unknown, names: readonly string[]): Map<string, number> {
  if (!Buffer.isBuffer(bytes)) return new Map();
  return new Map(names.map((name, i) => [name, bytes.readDoubleLE(8 * i)]));
}

function lookup(fields: ReadonlyMap<string, number>): Stored {
  return (name) => fields.get(name) ?? 0;
}
