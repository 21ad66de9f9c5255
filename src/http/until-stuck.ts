/** Who takes nothing for so long will not take anything any more. */
const STUCK_MS = 30_000;

/** The same texts, until nobody takes the next one for a while: then `giveUp` is called, once. */
export async function* untilStuck(texts: AsyncIterable<string>, giveUp: () => void): AsyncGenerator<string> {
  for await (const text of texts) {
    const timer = setTimeout(giveUp, STUCK_MS);
    try {
      yield text;
    } finally {
      clearTimeout(timer);
    }
  }
}
