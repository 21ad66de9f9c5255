const LARGEST_CHUNK_BYTES = 64 * 1024;
const LARGEST_OUTPUT_BYTES = 1024 * 1024;
/** Counted for each chunk beside its text: a million empty chunks are an output too. */
const CHUNK_OVERHEAD_BYTES = 8;

/** How much the handler of one run may still emit. */
export class OutputBudget {
  #bytes = 0;

  /**
   * Takes a chunk out of the budget, and answers it as JSON text.
   *
   * @throws TypeError For what is no JSON, or too much of it.
   */
  take(chunk: unknown): string {
    const json = toJson(chunk);
    const bytes = Buffer.byteLength(json);
    if (bytes > LARGEST_CHUNK_BYTES) {
      throw new TypeError(`emit: ${bytes} bytes of JSON in one chunk, at most ${LARGEST_CHUNK_BYTES}`);
    }
    if (this.#bytes + bytes + CHUNK_OVERHEAD_BYTES > LARGEST_OUTPUT_BYTES) {
      throw new TypeError(`emit: the output of a run has at most ${LARGEST_OUTPUT_BYTES} bytes`);
    }
    this.#bytes += bytes + CHUNK_OVERHEAD_BYTES;
    return json;
  }
}

function toJson(chunk: unknown): string {
  let json: string | undefined;
  try {
    json = JSON.stringify(chunk);
  } catch (error) {
    throw new TypeError(`emit: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (json === undefined) throw new TypeError(`emit: expected text or a JSON value; got ${typeof chunk}`);
  return json;
}
