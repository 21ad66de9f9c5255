import type { Asked, ShardTurns } from '../model/shard-turns.js';
import type { Dispatched } from './scripts.js';
import { inMs, standingOf } from './standing-of.js';

/** Tells `turns` what a dispatch came to, just now. */
export function learnTurn(turns: ShardTurns, asked: Asked, found: Dispatched): void {
  const now = performance.now();
  if (found.kind === 'nothing') {
    if (found.lacks) turns.stands(asked, standingOf(found.lacks.turn), now);
    else turns.nothing(asked, inMs(found.waitUs), now);
  } else if (found.turn === null) {
    turns.failed(asked); // A repeated dispatch: it says nothing of the shard.
  } else turns.served(asked, standingOf(found.turn), now);
}
