import type { JobState, JobView } from '../model/verdict.js';
import { msOf } from './ms-of.js';
import { releaseBetween } from './release-between.js';
import type { JobFields, scripts } from './scripts.js';
import { slipOf } from './slip.js';

type ReadReply = NonNullable<ReturnType<(typeof scripts)['read']['parse']>>;

/** One job for a reader, from its hash and where it stands. */
export function jobViewOf(type: string, tenant: string, id: string, read: ReadReply): JobView {
  const { fields, position, basis } = read;
  const state = stateOf(read.state, fields);
  const waitMs = msOf(read.waitUs);
  const result = fields.get('returnvalue');
  const reason = fields.get('failedReason');
  return {
    id,
    type,
    tenant,
    state,
    priority: Number(fields.get('priority') ?? 5) - 1,
    cost: Number(fields.get('hg:c') ?? 1),
    createdAtMs: Number(fields.get('timestamp')),
    startedAtMs: instant(fields.get('processedOn')),
    slipMs: slipOf(fields)?.slipMs ?? null,
    endedAtMs: instant(fields.get('finishedOn')),
    startByMs: instant(fields.get('hg:s')),
    promise:
      basis === ''
        ? null
        : {
            position: position === 0 ? null : position,
            releaseAtMs: read.unixMs + waitMs,
            waitMs,
            basis,
            releaseBetweenMs: releaseBetween(read.between, read.unixMs),
            ...(read.approximate && { approximate: true as const }),
          },
    attemptsMade: Number(fields.get('atm') ?? 0),
    cancelRequested: fields.get('hg:x') === '1',
    progress: parseJson(fields.get('progress')) ?? null,
    ...(state === 'completed' && result !== undefined && { result: parseJson(result) ?? null }),
    ...(endedBadly(state) && reason !== undefined && { error: reason }),
  };
}

function stateOf(state: ReadReply['state'], fields: JobFields): JobState {
  const ending = fields.get('hg:e');
  return state === 'failed' && (ending === 'expired' || ending === 'cancelled') ? ending : state;
}

function endedBadly(state: JobState): boolean {
  return state === 'failed' || state === 'expired' || state === 'cancelled';
}

function instant(text: string | undefined): number | null {
  return text === undefined ? null : Number(text);
}

function parseJson(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
