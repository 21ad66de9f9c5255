/** Where to write: `process.stdout`, as far as it is used. */
export interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

const ESCAPE = '\u001b';
/** Between two tables where lines cannot be overwritten. */
const PLAIN_EVERY_MS = 10_000;

/** Shows a few lines that change: in place on a terminal, one below the other and less often elsewhere. */
export class TerminalDisplay {
  readonly #out: Output;
  #height = 0;
  #plainAtMs = Number.NEGATIVE_INFINITY;

  constructor(out: Output) {
    this.#out = out;
  }

  /** Replaces what the last call showed. */
  show(lines: readonly string[]): void {
    if (this.#out.isTTY === true) this.#showInPlace(lines);
    else this.#showPlain(lines);
  }

  /** Writes lines that stay. */
  say(...lines: readonly string[]): void {
    this.#height = 0;
    this.#out.write(`${lines.join('\n')}\n`);
  }

  #showInPlace(lines: readonly string[]): void {
    const up = this.#height > 0 ? `${ESCAPE}[${this.#height}A` : '';
    const width = this.#out.columns || undefined;
    const text = lines.map((line) => `${ESCAPE}[2K${line.slice(0, width)}\n`).join('');
    this.#out.write(`${up}${text}${ESCAPE}[0J`);
    this.#height = lines.length;
  }

  #showPlain(lines: readonly string[]): void {
    const nowMs = performance.now();
    if (nowMs - this.#plainAtMs < PLAIN_EVERY_MS) return;
    this.#plainAtMs = nowMs;
    this.#out.write(`${lines.join('\n')}\n\n`);
  }
}
