/** Does `act` for each number below `count`, so many at a time. */
export async function inParallel(width: number, count: number, act: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const one = async (): Promise<void> => {
    while (next < count) {
      next += 1;
      await act(next - 1);
    }
  };
  await Promise.all(Array.from({ length: width }, one));
}
