import type { Config, ProfileOverride } from './config.js';
import { formatPath, type Path } from './problem.js';

/** Rates of 0, and a sentence that says what they mean. */
export interface PausedRates {
  /** Where they stand. */
  readonly places: readonly string[];
  readonly message: string;
}

const FIELDS = [
  ['ratePerSecond', 'rate'],
  ['jobRatePerSecond', 'jobRate'],
] as const;
const MOST_NAMED = 5;

/** What is paused by a rate of 0: allowed, and maybe the slip of someone who meant *no limit*. Nothing, or one sentence for all. */
export function pausedRates(config: Pick<Config, 'types' | 'tiers' | 'tenants'>): PausedRates[] {
  const paths: Path[] = [
    ...[...config.types.values()].flatMap(({ name, capacity }) =>
      capacity.ratePerSecond === 0 ? [['types', name, 'capacity', 'rate']] : [],
    ),
    ...[...config.tiers.values()].flatMap(({ name, stated }) => zerosOf(['tiers', name], stated)),
    ...[...config.tenants.values()].flatMap(({ id, stated, types }) => [
      ...zerosOf(['tenants', id], stated),
      ...[...types].flatMap(([type, override]) => zerosOf(['tenants', id, 'types', type], override)),
    ]),
  ];
  if (paths.length === 0) return [];
  const places = paths.slice(0, MOST_NAMED).map(formatPath);
  const more = paths.length > MOST_NAMED ? ` and ${paths.length - MOST_NAMED} more` : '';
  return [{ places, message: `a rate of 0 means paused: nothing starts by ${places.join(', ')}${more}` }];
}

function zerosOf(place: Path, stated: ProfileOverride): Path[] {
  return FIELDS.flatMap(([field, name]) => (stated[field] === 0 ? [[...place, name]] : []));
}
