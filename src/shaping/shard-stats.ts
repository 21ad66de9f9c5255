import type { scripts } from './scripts.js';

type Stats = ReturnType<(typeof scripts)['stats']['parse']>;

/** A type as a whole, from what each of its shards says. A mean run is weighed by what each of them served lately. */
export function allShards(shards: readonly Stats[]): Stats {
  const sum = (of: (stats: Stats) => number) => shards.reduce((total, stats) => total + of(stats), 0);
  const measured = shards.filter(({ meanRunUs }) => meanRunUs > 0);
  const weightOf = ({ servedPerSecond }: Stats) => servedPerSecond + Number.MIN_VALUE;
  const weights = measured.reduce((total, stats) => total + weightOf(stats), 0);
  const scarce = shards.flatMap(({ scarceUs }) => (scarceUs === null ? [] : [scarceUs]));
  return {
    dueBuckets: sum(({ dueBuckets }) => dueBuckets),
    readyBuckets: sum(({ readyBuckets }) => readyBuckets),
    running: sum(({ running }) => running),
    servedPerSecond: sum(({ servedPerSecond }) => servedPerSecond),
    meanRunUs: measured.reduce((mean, stats) => mean + stats.meanRunUs * (weightOf(stats) / weights), 0),
    scarceUs: scarce.length === 0 ? null : Math.max(...scarce),
  };
}
