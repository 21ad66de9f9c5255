import Type from 'typebox';
import { quantity } from './field.js';

/** How many may stay connected to one API process at once, unless stated. */
export const DEFAULT_CONNECTIONS = {
  waits: { perTenant: 1000, total: 10_000 },
  streams: { perTenant: 200, total: 5000 },
  claims: { perKey: 2000, total: 5000 },
} as const;

const { waits, streams, claims } = DEFAULT_CONNECTIONS;

const seats = (defaultSeats: number, description: string) =>
  quantity('count', { least: 1, most: 100_000, default: defaultSeats, description });

/** Callers who stay connected to an API process until something happens. */
export const ConnectionFields = Type.Object({
  waits: Type.Object({
    perTenant: seats(waits.perTenant, 'Requests of one tenant that wait for the end of a job, at once in one process.'),
    total: seats(waits.total, 'The same of all tenants together.'),
  }),
  streams: Type.Object({
    perTenant: seats(streams.perTenant, 'Streams of events that one tenant has open, at once in one process.'),
    total: seats(streams.total, 'The same of all tenants together.'),
  }),
  claims: Type.Object({
    perKey: seats(claims.perKey, 'Claims of workers elsewhere with one key that wait, at once in one process.'),
    total: seats(claims.total, 'The same of all keys together.'),
  }),
});
export type ConnectionFields = Type.Static<typeof ConnectionFields>;
