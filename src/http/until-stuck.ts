/** The same texts, until nobody takes the next one for so many milliseconds: then `giveUp` is called, once. */
export async function* untilStuck(
  texts: AsyncIterable<string>,
  stuckMs: number,
  giveUp: () => void,
): AsyncGenerator<string> {
  for await (const text of texts) {
    const timer = setTimeout(giveUp, stuckMs);
    try {
      yield text;
    } finally {
      clearTimeout(timer);
    }
  }
}
