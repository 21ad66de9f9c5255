import { seeded } from '../seeded.js';

/** Numbers that a seed decides: the same on every machine. */
export interface Random {
  /** From 0 up to but not including 1. */
  uniform(): number;
  /** Times between the events of a Poisson process. */
  exponential(mean: number): number;
  /** As service times are: most of them short and a few very long. `spread` is σ of the logarithm. */
  lognormal(mean: number, spread: number): number;
}

export function seededRandom(seed: number): Random {
  const uniform = seeded(seed);
  // Box and Muller, of whose pair one is used.
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  return {
    uniform,
    exponential: (mean) => -mean * Math.log(1 - uniform()),
    lognormal: (mean, spread) => mean * Math.exp(spread * normal() - (spread * spread) / 2),
  };
}
