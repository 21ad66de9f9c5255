/** Whoever calls while a run is under way gets the answer of that run. */
export function inCommon<Answer>(run: () => Promise<Answer>): () => Promise<Answer> {
  let underWay: Promise<Answer> | undefined;
  return () => {
    underWay ??= run().finally(() => {
      underWay = undefined;
    });
    return underWay;
  };
}
