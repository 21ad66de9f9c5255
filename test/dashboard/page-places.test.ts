import { execFileSync } from 'node:child_process';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { curlLine } from '../../src/dashboard/public/pure/curl-line.js';
import { readDraft } from '../../src/dashboard/public/pure/job-draft.js';
import { type Job, lifeOfJob } from '../../src/dashboard/public/pure/life-of-job.js';
import { hashOf, type Route, readRoute, SORTS, STATES } from '../../src/dashboard/public/pure/route.js';

const START = { page: 'overview', type: '', tenant: '', id: '', q: '', sort: 'trouble', state: 'waiting' };

describe('an address', () => {
  it.each([
    ['', {}],
    ['#/', {}],
    ['#/type/ocr?q=ac&sort=waiting', { type: 'ocr', q: 'ac', sort: 'waiting' }],
    ['#/tenant/ocr/a%2Fb?state=failed', { page: 'tenant', type: 'ocr', tenant: 'a/b', state: 'failed' }],
    ['#/job/01.ocr.0?tenant=acme', { page: 'job', id: '01.ocr.0', tenant: 'acme' }],
    ['#/submit/ocr', { page: 'submit', type: 'ocr' }],
    ['#/nowhere', {}],
    ['#/tenant/ocr', {}],
    ['#/type/%zz?sort=up', { type: '%zz' }],
  ])('%s leads to a place', (hash, place) => expect(readRoute(hash)).toEqual({ ...START, ...place }));

  it('of a place leads back to it, whatever is called how', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 });
    const place = fc.oneof(
      fc.record({
        page: fc.constant('overview' as const),
        type: text,
        q: fc.string(),
        sort: fc.constantFrom(...SORTS),
      }),
      fc.record({ page: fc.constant('tenant' as const), type: text, tenant: text, state: fc.constantFrom(...STATES) }),
      fc.record({ page: fc.constant('job' as const), id: text, tenant: text }),
    );
    fc.assert(
      fc.property(place, (there: Partial<Route>) => {
        expect(readRoute(hashOf(there))).toEqual({ ...START, ...there });
      }),
    );
  });
});

describe('the form for a job', () => {
  const draft = { type: 'ocr', tenant: '', data: '{"pages":3}', priority: '4', delay: '' };

  it('says no more than was chosen', () => {
    expect(readDraft(draft)).toEqual({ outcome: 'ready', job: { type: 'ocr', data: { pages: 3 } } });
    const more = { ...draft, tenant: 'acme', priority: '0', delay: '1.5' };
    const job = { type: 'ocr', tenant: 'acme', data: { pages: 3 }, priority: 0, delayMs: 1500 };
    expect(readDraft(more)).toEqual({ outcome: 'ready', job });
  });

  it.each([
    [{ data: '{' }, 'data'],
    [{ data: '[]' }, 'data'],
    [{ data: 'null' }, 'data'],
    [{ delay: 'soon' }, 'delay'],
    [{ delay: '-1' }, 'delay'],
  ])('names what is wrong in %j', (change, field) => {
    expect(readDraft({ ...draft, ...change })).toMatchObject({ outcome: 'faulty', field });
  });

  it('has a command that posts the very same, whatever stands in it', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0')),
        (text) => {
          const job = { type: 'ocr', data: { text } };
          const line = curlLine('http://127.0.0.1:8080', job).replace(/^curl/, 'shown');
          // The shell says what a program gets; the last of it is the body.
          const said = execFileSync('bash', ['-c', `shown() { printf '%s' "\${@: -1}"; }; ${line}`], {
            encoding: 'utf8',
          });
          expect(JSON.parse(said)).toEqual(job);
        },
      ),
      { numRuns: 30 },
    );
  });
});

describe('the life of a job', () => {
  const job: Job = {
    id: '01.ocr.0',
    type: 'ocr',
    tenant: 'acme',
    state: 'waiting',
    position: 3,
    releaseAt: '2026-11-30T14:05:03.000Z',
    waitMs: 2000,
    basis: 'rate',
    priority: 4,
    cost: 1,
    createdAt: '2026-11-30T14:05:01.000Z',
    startedAt: null,
    slipMs: null,
    endedAt: null,
    startBy: null,
    attempts: 0,
    cancelRequested: false,
    progress: 0,
  };
  const started = {
    startedAt: '2026-11-30T14:05:03.012Z',
    slipMs: 12,
    position: null,
    releaseAt: null,
    basis: null,
    attempts: 1,
  };
  const stations = (change: Partial<Job>) =>
    lifeOfJob({ ...job, ...change }).map(({ name, when }) => `${name} ${when}`);

  it.each<[string, Partial<Job>, string[]]>([
    ['waits', {}, ['admitted past', 'released now', 'started ahead', 'end ahead']],
    ['runs', { ...started, state: 'active' }, ['admitted past', 'released past', 'started now', 'end ahead']],
    [
      'runs again and says how far it is',
      { ...started, state: 'active', attempts: 2, progress: 40 },
      ['admitted past', 'released past', 'retried past', 'started now', 'progress now', 'end ahead'],
    ],
    [
      'has ended',
      { ...started, state: 'completed', endedAt: '2026-11-30T14:05:04.000Z' },
      ['admitted past', 'released past', 'started past', 'completed past'],
    ],
    [
      'was cancelled before it started',
      { state: 'cancelled', releaseAt: null, position: null, basis: null, endedAt: '2026-11-30T14:05:02.000Z' },
      ['admitted past', 'released past', 'cancelled past'],
    ],
  ])('of one that %s', (_, change, expected) => expect(stations(change)).toEqual(expected));

  it('says when it was promised to start, and how late it was', () => {
    const released = lifeOfJob({ ...job, ...started, state: 'active' })[1];
    expect(released).toMatchObject({ atMs: Date.parse('2026-11-30T14:05:03.000Z'), note: 'started 12 ms after it' });
  });
});
