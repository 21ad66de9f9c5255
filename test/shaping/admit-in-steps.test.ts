import { describe, expect, test } from 'vitest';
import { RedisFull } from '../../src/redis/outage.js';
import { ADMITTED_AT_ONCE, admitInSteps } from '../../src/shaping/admit-in-steps.js';
import type { AdmitVerdict } from '../../src/shaping/scripts.js';

const admitted = (id: string): AdmitVerdict => ({
  kind: 'admitted',
  id,
  state: 'waiting',
  position: 1,
  waitUs: 0,
  basis: 'rate',
  between: null,
});
const rejected = (
  reason: 'bucket_full' | 'door_closed' | 'deadline_past' | 'cost_exceeds_max',
  retryUs: number | null,
) => ({
  kind: 'rejected' as const,
  reason,
  limit: reason === 'bucket_full' ? 'depth' : '',
  retryUs,
  waitUs: 0,
});

const JOBS = Array.from({ length: 2 * ADMITTED_AT_ONCE + 7 }, (_, i) => `job-${i}`);

/** A door with so many places, at which the clock shows the number of the call; what it was asked. */
function doorOf(places: number, special: Readonly<Record<string, AdmitVerdict>> = {}) {
  const calls: { jobs: number; closed: boolean }[] = [];
  let free = places;
  const admit = async (step: readonly string[], closed: boolean) => {
    calls.push({ jobs: step.length, closed });
    let isClosed = closed;
    const verdicts = step.map((id): AdmitVerdict => {
      const own = special[id];
      if (own) return own;
      if (isClosed) return closed ? rejected('door_closed', null) : rejected('bucket_full', 5);
      if (free === 0) {
        isClosed = true;
        return rejected('bucket_full', 5);
      }
      free -= 1;
      return admitted(id);
    });
    // A place becomes free while the next call is on its way.
    free += 1;
    return { kind: 'answered' as const, unixMs: calls.length, depth: places, freePlaces: free, verdicts };
  };
  return { calls, admit };
}

describe('the jobs of one bucket', () => {
  test('come a few at a time, each with the clock of its own call', async () => {
    const { calls, admit } = doorOf(1000);
    const { verdicts } = await admitInSteps(JOBS, admit);
    expect(calls).toEqual([ADMITTED_AT_ONCE, ADMITTED_AT_ONCE, 7].map((jobs) => ({ jobs, closed: false })));
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(JOBS.map(admitted));
    expect([verdicts[0]?.unixMs, verdicts.at(-1)?.unixMs]).toEqual([1, 3]);
  });

  test('are admitted as a prefix, though places become free meanwhile: the first that does not fit is the answer to all behind it', async () => {
    const fits = ADMITTED_AT_ONCE - 2;
    const { calls, admit } = doorOf(fits);
    const { verdicts } = await admitInSteps(JOBS, admit);
    expect(calls.map(({ closed }) => closed)).toEqual([false, true, true]);
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(
      JOBS.map((id, i) => (i < fits ? admitted(id) : rejected('bucket_full', 5))),
    );
  });

  test('that would be refused at any time close the door to nobody, and are refused as they are behind a closed one', async () => {
    const dear = rejected('cost_exceeds_max', null);
    const past = rejected('deadline_past', null);
    const again: AdmitVerdict = { kind: 'replayed', id: 'job-0' };
    const special = {
      'job-1': dear,
      [`job-${ADMITTED_AT_ONCE + 1}`]: past,
      [`job-${2 * ADMITTED_AT_ONCE + 1}`]: again,
    };
    const { verdicts } = await admitInSteps(JOBS, doorOf(ADMITTED_AT_ONCE - 10, special).admit);
    const at = (i: number) => verdicts[i]?.verdict;
    expect([at(1), at(2)]).toEqual([dear, admitted('job-2')]);
    expect([at(ADMITTED_AT_ONCE), at(ADMITTED_AT_ONCE + 1)]).toEqual([rejected('bucket_full', 5), past]);
    expect([at(2 * ADMITTED_AT_ONCE), at(2 * ADMITTED_AT_ONCE + 1)]).toEqual([rejected('bucket_full', 5), again]);
  });

  test('of which there are none are asked about all the same: the answer says how much room there is', async () => {
    const { calls, admit } = doorOf(3);
    expect(await admitInSteps([], admit)).toMatchObject({ depth: 3, freePlaces: 4, verdicts: [] });
    expect(calls).toEqual([{ jobs: 0, closed: false }]);
  });

  test('of which Redis had no room for the later ones keep the verdicts on the first; where it had none at all, that is an error', async () => {
    const { admit } = doorOf(1000);
    let calls = 0;
    const until = (full: number) => (step: readonly string[], closed: boolean) => {
      calls += 1;
      if (calls > full) return Promise.reject(new RedisFull('full'));
      return admit(step, closed);
    };
    const { verdicts } = await admitInSteps(JOBS, until(1));
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(JOBS.slice(0, ADMITTED_AT_ONCE).map(admitted));
    expect(calls).toBe(2);
    await expect(admitInSteps(JOBS, until(0))).rejects.toBeInstanceOf(RedisFull);
  });
});
