import type { Command } from 'commander';
import { amount, openRemote, type Printed, type RemoteFlags, remote, table, wholeNumber } from '../remote.js';

interface QuoteFlags extends RemoteFlags {
  readonly count?: number;
  readonly priority?: number;
  readonly cost?: number;
}

/** What `GET /v1/quote` answers. */
interface Quote {
  readonly type: string;
  readonly count: number;
  readonly cost: number;
  readonly startAt: string | null;
  readonly startBetween: readonly [string, string] | null;
  readonly lastStartAt: string | null;
  readonly lastStartBetween: readonly [string, string] | null;
  readonly basis: 'rate' | 'capacity';
  readonly endAt: string | null;
  readonly freePlaces: number;
}

/** `headgate quote`: when jobs would start and end that came now. */
export function quoteCommand(program: Command): void {
  remote(program.command('quote'))
    .description('say when jobs would start and end if they came now; hands in nothing')
    .argument('<type>', 'job type')
    .option('--count <n>', 'so many jobs, 1 to 1000 (default: 1)', wholeNumber)
    .option('--priority <0-9>', '0 is first, 9 last', wholeNumber)
    .option('--cost <units>', 'what each will cost, where the type does not fix it', amount)
    .action(async (type: string, { count, priority, cost, ...flags }: QuoteFlags) => {
      const { client, print } = openRemote(flags);
      const query = { type, count, priority, cost, tenant: flags.tenant };
      const quote = await client.request<Quote>({ method: 'GET', path: '/v1/quote', query });
      print(quote, () => quoteLines(quote));
    });
}

/** A quote for people. */
export function quoteLines(quote: Quote): Printed {
  const { type, count, cost, freePlaces, basis } = quote;
  return [
    `${count} of ${type}, of cost ${cost} each, by ${basis}`,
    ...table([
      ['first start', instantText(quote.startAt, quote.startBetween)],
      ...(count === 1 ? [] : [['last start', instantText(quote.lastStartAt, quote.lastStartBetween)]]),
      ['end', quote.endAt ?? 'unknown until runs were measured'],
      ['free places', count > freePlaces ? `${freePlaces}: too few` : freePlaces],
    ]),
  ];
}

function instantText(at: string | null, between: readonly [string, string] | null): string {
  if (at === null) return 'unknown: paused';
  return between === null ? at : `${at} (between ${between[0]} and ${between[1]})`;
}
