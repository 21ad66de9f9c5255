import { describe, expect, it } from 'vitest';
import type { Answer, JobReading } from '../../bench/demo/demo-client.js';
import { JobBook } from '../../bench/demo/job-book.js';

const PAGE = { file: 'frost.png', text: 'Frost' };

/** A server that holds what the test states and counts the reads of each job. */
class StatedServer {
  readonly reads: string[] = [];
  readonly jobs = new Map<string, Partial<JobReading>>();
  full = false;

  async submit(): Promise<Answer> {
    if (this.full) return { kind: 'refused' };
    const id = `j${this.jobs.size + 1}`;
    this.jobs.set(id, {});
    return { kind: 'admitted', id };
  }

  async job(id: string): Promise<JobReading> {
    this.reads.push(id);
    const waiting = {
      state: 'waiting',
      cost: 1,
      createdAtMs: 5,
      startedAtMs: null,
      endedAtMs: null,
      releaseAtMs: null,
    };
    return { ...waiting, result: undefined, error: undefined, ...this.jobs.get(id) };
  }
}

async function bookOf(count: number): Promise<{ server: StatedServer; book: JobBook }> {
  const server = new StatedServer();
  const book = new JobBook('gold', server);
  for (let n = 0; n < count; n += 1) await book.send(PAGE);
  return { server, book };
}

describe('the book of a tenant', () => {
  it('reads no further than the first job that waits, and ended jobs never again', async () => {
    const { server, book } = await bookOf(4);
    server.jobs.set('j1', { state: 'completed', startedAtMs: 10, endedAtMs: 20, result: { text: 'Frost' } });
    server.jobs.set('j2', { state: 'active', startedAtMs: 15 });
    server.jobs.set('j3', { releaseAtMs: 1234 });
    await book.refresh();
    await book.refresh();
    expect(server.reads).toEqual(['j1', 'j2', 'j3', 'j2', 'j3']);
    expect(book.nextStartAtMs).toBe(1234);
    expect(book.jobs.map(({ state }) => state)).toEqual(['completed', 'active', 'waiting', 'waiting']);
    expect(book.jobs[0]).toMatchObject({ text: 'Frost', admittedAtMs: 5, startedAtMs: 10, endedAtMs: 20 });
  });

  it('comes back to a job that runs longer than the one after it', async () => {
    const { server, book } = await bookOf(2);
    server.jobs.set('j1', { state: 'active', startedAtMs: 10 });
    server.jobs.set('j2', { state: 'completed', startedAtMs: 11, endedAtMs: 12 });
    await book.refresh();
    server.jobs.set('j1', { state: 'failed', startedAtMs: 10, endedAtMs: 30, error: 'torn' });
    await book.refresh();
    expect(book.jobs.map(({ endedAtMs }) => endedAtMs)).toEqual([30, 12]);
    expect(book.jobs[0]?.error).toBe('torn');
    expect(book.nextStartAtMs).toBeNull();
  });

  it('counts what the door refused, and does not book it', async () => {
    const { server, book } = await bookOf(1);
    server.full = true;
    await book.send(PAGE);
    expect({ jobs: book.jobs.length, refused: book.refused }).toEqual({ jobs: 1, refused: 1 });
  });
});
