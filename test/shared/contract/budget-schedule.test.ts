/**
 * Schedules of disruption budgets, as Karpenter's own reader has them: the answers of robfig/cron 3.0.1 in Go, for each schedule at each instant. The checks
 * of the simulator have an answer of their own, which is held to the same.
 */
import { describe, expect, it } from 'vitest';
import { activity } from '../../../shared/contract/budget-schedule.ts';
import { nanosecondsToDuration, parseGoDuration } from '../../../shared/domain/go-duration.ts';
import { addDuration, hours, minutes } from '../../../shared/domain/time.ts';
import { wasHitWithin } from '../../../simulator/cron.ts';
import { at } from '../../builders/repair.ts';
import schedules from '../../fixtures/cron/karpenter-schedules.json' with { type: 'json' };

function durationOf(text: string) {
  const parsed = parseGoDuration(text);
  if (!parsed.ok) throw new Error(text);
  return nanosecondsToDuration(parsed.nanoseconds);
}

/** Whether it is in force; undefined: nobody can read it. */
interface Case {
  readonly isActive: boolean | undefined;
  readonly when: string;
}

const cases = Object.entries(schedules).map(([schedule, answers]): readonly [string, readonly Case[]] => [
  schedule,
  typeof answers === 'string'
    ? [{ isActive: undefined, when: '2024-11-01T15:02:48Z 1h' }]
    : [
        ...answers.active.map((when: string) => ({ isActive: true, when })),
        ...answers.inactive.map((when: string) => ({ isActive: false, when })),
      ],
]);

describe('a budget with a schedule is in force for its duration from each hit on', () => {
  it.each(cases)('%j', (schedule, list) => {
    for (const { isActive, when } of list) {
      const [instant = '', text = ''] = when.split(' ');
      const now = at(instant);
      const duration = durationOf(text);
      expect({ when, isActive: activity(schedule, duration, now)?.isActive }).toEqual({ when, isActive });
      // What never comes again in five years is in force for ever there; the plain reader looks back only.
      if (schedule !== '0 0 30 2 *')
        expect({ when, isActive: wasHitWithin(schedule, duration, now) }).toEqual({ when, isActive });
    }
  });

  it('says when that changes', () => {
    const nine = at('2024-11-01T09:00:00Z');
    expect(activity('0 9 * * *', hours(8), nine)).toEqual({ isActive: true, changes: addDuration(nine, hours(8)) });
    const before = addDuration(nine, minutes(-5));
    expect(activity('0 9 * * *', hours(8), before)).toEqual({ isActive: false, changes: nine });
  });
});
