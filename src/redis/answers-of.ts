import { isPassing } from './outage.js';

/**
 * What those answered that are there, in the order in which they were asked; `undefined` for those that are away. Rejects when none
 * is there, and when one refuses for a reason that does not pass by itself.
 */
export async function answersOf<Reply>(asked: readonly Promise<Reply>[]): Promise<(Reply | undefined)[]> {
  const outcomes = await Promise.allSettled(asked);
  const errors = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  const lasting = errors.find((error) => !isPassing(error));
  if (lasting !== undefined) throw lasting;
  if (errors.length > 0 && errors.length === outcomes.length) throw errors[0];
  return outcomes.map((each) => (each.status === 'fulfilled' ? each.value : undefined));
}
