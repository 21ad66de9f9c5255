import { type ConfigProblem, formatPath, type Path } from './problem.js';
import type { Position } from './yaml-source.js';

/** Collects what is wrong, and knows where in the file each value stands. */
export class ProblemList {
  readonly #problems: ConfigProblem[] = [];
  readonly #faulty = new Map<string, Path>();
  readonly #positions = new Map<string, Position>();

  /** Notes where the value at `path` stands. */
  locate(path: Path, position: Position | undefined): void {
    if (position !== undefined) this.#positions.set(JSON.stringify(path), position);
  }

  /** Adds a problem; without a position it gets that of the value, or of what the value stands in. */
  add(path: Path, message: string, position = this.#nearest(path)): void {
    this.#problems.push({ path: formatPath(path), message, ...position });
    this.#faulty.set(JSON.stringify(path), path);
  }

  /** Adds a problem with something that does not stand in the file: a variable, an option of the command line. */
  addOutside(name: string, message: string): void {
    this.#problems.push({ path: name, message });
  }

  /** Whether the value at `path` is usable: there is no problem with it, nor with what it stands in. */
  sound(path: Path): boolean {
    return this.#faulty.size === 0 || !ancestry(path).some((place) => this.#faulty.has(place));
  }

  /** Whether there is no problem with the value at `path`, with what it stands in, nor with anything in it. */
  soundWithin(path: Path): boolean {
    const isWithin = (place: Path) => path.every((step, depth) => place[depth] === step);
    return this.sound(path) && ![...this.#faulty.values()].some(isWithin);
  }

  /** All problems in the order of the file; those outside it last. */
  all(): readonly ConfigProblem[] {
    return this.#problems.toSorted((a, b) => {
      const [lineA, lineB] = [a.line ?? Infinity, b.line ?? Infinity];
      return lineA === lineB ? (a.column ?? 0) - (b.column ?? 0) : lineA - lineB;
    });
  }

  #nearest(path: Path): Position | undefined {
    for (const place of ancestry(path)) {
      const position = this.#positions.get(place);
      if (position !== undefined) return position;
    }
    return undefined;
  }
}

/** The path itself, then what it stands in, out to the whole file. */
function ancestry(path: Path): string[] {
  return Array.from({ length: path.length + 1 }, (_, cut) => JSON.stringify(path.slice(0, path.length - cut)));
}
