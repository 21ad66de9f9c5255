/**
 * What was measured of the service that a type's jobs get, for promises where workers, slots or the type's rate are scarce.
 * `lua/lib/service.lua` does the same on Redis.
 *
 * **Pace.** While something has been ready for longer than {@link SCARCE_AFTER_US}, every start adds to four sums, in which
 * the newest starts count most. Virtual time goes on by (work / span) / weights of what is ready, and a job starts when
 * virtual time comes to its tag. They are kept over three windows, and a wait of so many starts is measured by a window of as
 * many: what holds for a moment says little of what is far, least of all where virtual time stands still for a round of
 * thousands of buckets.
 *
 * **Calibration.** For each band of estimates three factors, the 5 %, 50 % and 95 % points of (real wait / estimated wait),
 * found by stochastic approximation (H. Robbins, S. Monro, "A Stochastic Approximation Method", 1951): each start moves a
 * factor up or down, by steps that balance where that share of starts lies below it.
 */
export interface Service {
  /** When the last measured start was, in microseconds. */
  readonly startedAtUs: number;
  /** From the shortest to the longest. */
  readonly windows: readonly Pace[];
  readonly bands: readonly Learned[];
  /** Microseconds that runs took, and how many they were. */
  readonly ranUs: number;
  readonly ran: number;
}

/** Sums over the measured starts of a window. */
export interface Pace {
  /** Microseconds from each start back to the one before it. */
  readonly spanUs: number;
  /** How far virtual time went on at each, times the weights of all that was ready. */
  readonly work: number;
  readonly starts: number;
  /** How far virtual time went on. */
  readonly advance: number;
}

/** Points of (real wait / estimated wait). */
export interface Factors {
  readonly low: number;
  readonly middle: number;
  readonly high: number;
}

/** What a band has learned. */
export interface Learned extends Factors {
  /** Starts that moved its factors. */
  readonly seen: number;
}

/** Waits in whole microseconds between which a job starts nine times out of ten. */
export interface WaitRange {
  readonly earliestUs: number;
  readonly latestUs: number;
}

/** A wait in microseconds that was estimated, and by which band of factors it is corrected. */
export interface Guess {
  readonly waitUs: number;
  readonly band: number;
}

/** Something ready for longer than this says that workers are scarce. */
export const SCARCE_AFTER_US = 50_000;

/** Windows: what each start leaves of the sums before it, and the waits in starts that it is for. */
const WINDOWS = [
  { keep: 255 / 256, most: 256 },
  { keep: 2047 / 2048, most: 2048 },
  { keep: 16383 / 16384, most: 1e300 },
];
/** Of runs, each leaves so much of what there was. */
const KEEP = 255 / 256;
/** Starts before a pace counts as measured. */
const LEAST_STARTS = 8;
/** Waits are compared with this much added to both: below it, nobody cares by what factor one is off. */
const GRACE_US = 10_000;
/** Less work than any start does: what decay may leave. */
const NO_WORK = 1e-6;
const LEAST = 1e-6;
const MOST = 1e6;
/** Bands by how many gaps between two starts an estimate is long: up to these many; the last has no end. */
const BANDS = [2, 8, 32, 128];
/** A job behind more urgent ones has a band of its own, for more of these may come and go before it, however long it waits. */
export const BEHIND_URGENT = 5;
/**
 * By band: how wide a range is before anything was observed, a step of its bounds, a 27th of that, and a step of the middle.
 * Odds of 27 to 1 leave 7 % outside as long as nothing changes between a promise and the start, and 10 to 15 % as things do.
 * Jobs that wait at the same time err alike, so the longer the waits of a band the smaller are its steps: larger ones would
 * follow each crowd instead of averaging over many, and be wrong about the next one.
 *
 * Steps are whole for waits of up to `wholeUpTo` gaps; of longer ones they are as much smaller. What is learned from a start is
 * told to jobs of whom it shows how right that was when as many have started as wait: with steps that add up to much in the
 * meantime, factors would swing ever further.
 *
 * The n-th start of a band moves its factors by steps `early` / n times as large, while that is more and up to {@link MOST_STEP}:
 * small steps alone would take thousands of starts to learn what a load is like that nobody has seen.
 */
const TUNING = [
  { wide: 8, step: 1.04, fine: 1.00145367, even: 1.0131594, wholeUpTo: 1e9, early: 0 },
  { wide: 4, step: 1.03, fine: 1.00109537, even: 1.00990163, wholeUpTo: 1e9, early: 0 },
  { wide: 2.2, step: 1.015, fine: 1.00055158, even: 1.00497521, wholeUpTo: 1e9, early: 0 },
  { wide: 1.5, step: 1.006, fine: 1.00022158, even: 1.00199601, wholeUpTo: 1e9, early: 0 },
  { wide: 1.4, step: 1.003, fine: 1.00011095, even: 1.000999, wholeUpTo: 256, early: 500 },
  { wide: 12, step: 1.02, fine: 1.0007337, even: 1.00662271, wholeUpTo: 38, early: 0 },
] as const;
const MOST_STEP = 1.04;
const UNSEEN: readonly Learned[] = TUNING.map(({ wide }) => ({ low: 1 / wide, middle: 1, high: wide, seen: 0 }));
const NO_WINDOW = { keep: 0, most: 1e300 };
const NO_FACTORS: Learned = { low: 1, middle: 1, high: 1, seen: 0 };

/** Before anything was measured. */
export const NO_SERVICE: Service = {
  startedAtUs: 0,
  windows: WINDOWS.map(() => ({ spanUs: 0, work: 0, starts: 0, advance: 0 })),
  bands: UNSEEN,
  ranUs: 0,
  ran: 0,
};

/** A job starts at `nowUs`, virtual time goes on by `advance`, and `weights` is the sum over all that is ready. */
export function measureStart(
  service: Service,
  start: { readonly nowUs: number; readonly busySinceUs: number; readonly advance: number; readonly weights: number },
): Service {
  const scarceSinceUs = start.busySinceUs + SCARCE_AFTER_US;
  if (start.nowUs <= scarceSinceUs) return service;
  const spanUs = start.nowUs - Math.max(service.startedAtUs, scarceSinceUs);
  const work = start.advance * start.weights;
  const windows = service.windows.map((was, i) => {
    const { keep } = WINDOWS[i] ?? NO_WINDOW;
    return {
      spanUs: was.spanUs * keep + spanUs,
      work: was.work * keep + work,
      starts: was.starts * keep + 1,
      advance: was.advance * keep + start.advance,
    };
  });
  return { ...service, windows, startedAtUs: start.nowUs };
}

/** A run of a job ended that took `us`. */
export function measureRun(service: Service, us: number): Service {
  return { ...service, ranUs: service.ranUs * KEEP + us, ran: service.ran * KEEP + 1 };
}

/** How long a run takes, in microseconds; 0 while nobody knows. */
export function meanRunUs({ ranUs, ran }: Service): number {
  return ran > 0 ? ranUs / ran : 0;
}

/** Whether the pace of virtual time is known. */
export function hasPace({ windows }: Service): boolean {
  return (windows[0]?.starts ?? 0) >= LEAST_STARTS && (windows.at(-1)?.work ?? 0) >= NO_WORK;
}

/**
 * Microseconds in which virtual time goes on by `advance` where `ready` is the sum of the weights of all that is ready, and
 * `joining` comes to them; where there is a pace.
 */
export function turnUs({ windows }: Service, advance: number, ready: number, joining: number): number {
  let waitUs: number | undefined;
  let together = ready + joining;
  for (const [i, pace] of windows.entries()) {
    if (pace.work >= NO_WORK) waitUs = (advance * together * pace.spanUs) / pace.work;
    const { most } = WINDOWS[i] ?? NO_WINDOW;
    if (waitUs !== undefined && waitUs * pace.starts <= most * pace.spanUs) break;
    // Whoever is ready at this moment says less of a long wait than who was lately.
    together = pace.work / Math.max(pace.advance, NO_WORK) + joining;
  }
  return waitUs ?? 0;
}

/** Microseconds between two starts; 0 before the first. */
export function gapUs({ windows: [short] }: Service): number {
  return short && short.starts > 0 ? short.spanUs / short.starts : 0;
}

/** The band of an estimate, where one start follows another after `gap`. */
export function bandOf(waitUs: number, gap: number): number {
  const band = BANDS.findIndex((most) => waitUs < most * gap);
  return band < 0 ? BANDS.length : band;
}

/** The three points of the wait that was estimated, in microseconds. */
export function calibrated(service: Service, { waitUs, band }: Guess): Factors {
  const { low, middle, high } = service.bands[band] ?? NO_FACTORS;
  const at = (factor: number): number => Math.max(0, (waitUs + GRACE_US) * factor - GRACE_US);
  return { low: at(low), middle: at(middle), high: at(high) };
}

/** A job of which `guess` was estimated starts after `realUs`. */
export function observe(service: Service, guess: Guess, realUs: number): Service {
  const { low, middle, high, ...before } = service.bands[guess.band] ?? NO_FACTORS;
  const { wholeUpTo, early, ...whole } = TUNING[guess.band] ?? TUNING[0];
  const seen = before.seen + 1;
  const usual = Math.min(1, (wholeUpTo * gapUs(service)) / (guess.waitUs + GRACE_US));
  const scale = Math.max(usual, Math.min((usual * early) / seen, (MOST_STEP - 1) / (whole.step - 1)));
  const [step, fine, even] = [scaled(whole.step, scale), scaled(whole.fine, scale), scaled(whole.even, scale)];
  const factor = (realUs + GRACE_US) / (guess.waitUs + GRACE_US);
  const learned = {
    low: within(factor < low ? low / step : low * fine),
    middle: within(factor < middle ? middle / even : middle * even),
    high: within(factor > high ? high * step : high / fine),
    seen,
  };
  return { ...service, bands: service.bands.map((was, i) => (i === guess.band ? learned : was)) };
}

function scaled(step: number, scale: number): number {
  return 1 + (step - 1) * scale;
}

function within(factor: number): number {
  return Math.min(MOST, Math.max(LEAST, factor));
}
