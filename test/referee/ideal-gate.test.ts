import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_TOLERANCES } from './contract.js';
import { judgeEnvelope } from './judges/envelope.js';
import { openCase } from './open-case.js';
import { report } from './report.js';
import { throughIdealGate } from './support/ideal-gate.js';
import { scenarios } from './support/scenarios.js';
import type { Trace, TraceEvent } from './trace.js';
import { judge } from './verdict.js';

describe('the referee', () => {
  it('accepts whatever an ideal gate does', () => {
    fc.assert(
      fc.property(scenarios, (scenario) => {
        const verdict = judge(throughIdealGate(scenario), scenario.contract);
        expect(verdict.violations, report(verdict)).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  it('judges the same whatever its clocks show at the beginning', () => {
    fc.assert(
      fc.property(scenarios, fc.integer({ min: -1e9, max: 1e9 }), fc.nat(), (scenario, shiftMs, seed) => {
        const trace = spoilt(throughIdealGate(scenario), seed);
        const there = judge(shifted(trace, shiftMs), scenario.contract).judgements;
        const here = judge(trace, scenario.contract).judgements;
        expect(there.map(withoutInstants)).toEqual(here.map(withoutInstants));
      }),
      { numRuns: 200 },
    );
  });

  it('finds no envelope broken by one start less', () => {
    fc.assert(
      fc.property(scenarios, fc.nat(), (scenario, choice) => {
        const trace = throughIdealGate(scenario);
        const starts = trace.filter((event) => event.kind === 'start');
        const dropped = starts[choice % starts.length];
        const fewer = trace.filter((event) => event !== dropped);
        expect(judgeEnvelope(openCase(fewer, scenario.contract, DEFAULT_TOLERANCES)).violations).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });
});

/** A trace in which some starts came at other times, so that there is something to find. */
function spoilt(trace: Trace, seed: number): Trace {
  return trace.map((event, index) =>
    event.kind === 'start' && (index + seed) % 5 === 0 ? { ...event, at: event.at - (seed % 7) * 100 } : event,
  );
}

function shifted(trace: Trace, byMs: number): Trace {
  return trace.map((event): TraceEvent => {
    if (event.kind === 'outage') return { ...event, from: event.from + byMs, to: event.to + byMs };
    if ('at' in event) return { ...event, at: event.at + byMs };
    return { ...event, sentAt: event.sentAt + byMs, answeredAt: event.answeredAt + byMs };
  });
}

function withoutInstants({ guarantee, judged, excused, violations }: ReturnType<typeof judge>['judgements'][number]) {
  return { guarantee, judged, excused, violations: violations.map(({ bucket }) => bucket) };
}
