import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

/**
 * Trouble with queues, rates, slots and Redis that was reported in public of systems of this kind, and the tests that hold it
 * off here. The titles are looked up, so that none of them can go away unnoticed.
 */
const HELD_BY: readonly [fact: string, tests: readonly [file: string, title: string | RegExp][]][] = [
  [
    'ten jobs at 2/3 per second all finish',
    [['lua/reported-in-public', 'ten jobs at two thirds of one a second all start']],
  ],
  [
    'a change of rate re-times what waits',
    [
      ['lua/retime', 'the same profile again changes nothing, and says so'],
      ['system/live-changes', 'through one API starts at the new rate at once, when the other API says'],
      ['system/live-capacity', 'goes at the new rate of its tenant’s tier at once, and the other API promises so'],
    ],
  ],
  [
    'a restart with a backlog gives no burst',
    [['system/restarts', 'finds its backlog, which went on at its rate: nothing lost, no burst, every promise kept']],
  ],
  [
    'delayed jobs join when due',
    [
      ['lua/dispatch', 'delayed jobs join in the order in which they fall due, ahead of what came after that'],
      ['lua/dispatch', 'a delayed job does not start a microsecond before its instant'],
    ],
  ],
  [
    'delays beyond 2³¹ ms',
    [
      ['lua/reported-in-public', 'is kept to the microsecond: no 32-bit number is on its way'],
      ['workers/pool', 'does not spin for a job that is delayed for longer than a timer can be set'],
    ],
  ],
  [
    'an expired or cancelled job uses no rate',
    [
      ['lua/cancel', 'waits is cancelled, frees its place and uses no rate'],
      ['model/scheduler', 'a job that expired or was cancelled; the next one starts in its place'],
    ],
  ],
  ['a blocked bucket never holds a slot', [['lua/reported-in-public', 'holds no slot: of a bucket at its cap']]],
  [
    'a type at its limit does not delay another type',
    [
      ['lua/reported-in-public', 'of one type, at its concurrency or its rate, delays no other type'],
      ['system/types-apart', 'a type starts its jobs when it said, whatever other types of the same workers wait for'],
    ],
  ],
  [
    "a backlog of 10,000 in one tenant leaves another's first job under a second",
    [['lua/reported-in-public', 'a backlog of ten thousand in one tenant']],
  ],
  [
    'every exit ×1,000 leaves the running count at 0',
    [
      ['lua/settle', 'a thousand runs leave no slot taken: %s'],
      ['workers/pool', 'a thousand exits of every kind leave no slot taken'],
      ['system/thousand-kills', 'a thousand runs that end by kill -9 of their worker leave no slot taken'],
      ['system/killed-worker', 'loses no job, leaks no slot and breaks no cap'],
      ['system/stopped-worker', 'keeps no job and no slot from the others, and what it brings late does not count'],
    ],
  ],
  ['cancelling the head lets the next go', [['lua/cancel', 'cancelling the head lets the next one go']]],
  [
    'a rolling restart runs nothing twice beyond what was running',
    [['system/restarts', 'is replaced, one after the other, while jobs come and go: each runs once']],
  ],
  [
    'functions and scripts flushed under load',
    [
      ['system/redis-refuses', 'is given them again, and no caller notices'],
      ['redis/script', 'each take effect once, however many met a flush'],
    ],
  ],
  [
    'a restart of Redis under load',
    [
      ['system/redis-outage', 'costs no job that was accepted, and workers resume by themselves'],
      ['system/redis-refuses', 'reads its file after a kill -9 (LOADING)'],
    ],
  ],
  [
    'a failover under load',
    [['system/sentinel-failover', 'a master that is killed under load costs no accepted job, no slot and no promise']],
  ],
  ['READONLY under load', [['system/redis-refuses', 'is read-only (READONLY)']]],
  ['boot with Redis down', [['system/redis-outage', 'becomes ready by itself when Redis is there, and works']]],
  [
    'outages of 1, 6, 15 and 60 s, idle and busy, then work resumes',
    [
      ['system/outage-lengths', 'costs no job, and all goes on by itself'],
      ...[1, 6, 15, 60].flatMap((seconds) =>
        [true, false].map((busy): [string, RegExp] => [
          'system/outage-lengths',
          new RegExp(`seconds: ${seconds}, way: '[^']+', busy: ${busy}`),
        ]),
      ),
    ],
  ],
  [
    'maxmemory reached: 503, workers survive',
    [
      ['system/redis-refuses', 'has reached its maxmemory (OOM)'],
      ['http/outage', 'a Redis without memory refuses jobs as `memory_full`'],
    ],
  ],
  [
    'an evicting policy is refused at start',
    [['system/wrong-input', 'is refused by `%s` in one line that says what to do, with code 2']],
  ],
];

test.each(HELD_BY)('%s: there is a test', async (_, tests) => {
  for (const [file, title] of tests) {
    const text = await readFile(fileURLToPath(new URL(`../${file}.test.ts`, import.meta.url)), 'utf8');
    if (typeof title === 'string') expect(text).toContain(title);
    else expect(text).toMatch(title);
  }
});
