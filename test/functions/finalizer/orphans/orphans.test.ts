import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { orphanCandidates } from '../../../../functions/finalizer/orphans/rule/candidates.ts';
import {
  decide,
  type FoundInstance,
  type InstanceOwner,
  type OrphanObservation,
} from '../../../../functions/finalizer/orphans/decide.ts';
import {
  addDuration,
  type DurationMs,
  hours,
  minutes,
  seconds,
  toDurationMs,
  toEpochMs,
} from '../../../../shared/domain/time.ts';
import { at } from '../../../builders/repair.ts';

const NOW = at('2024-11-01T15:00:00Z');
const ago = (duration: DurationMs) => toEpochMs(NOW - duration);

describe('candidates', () => {
  const instance = (providerID: string, age: DurationMs) => ({ providerID, launchTime: ago(age) });

  it('are the instances that nothing has, 15 minutes after their launch', () => {
    const [held, young, old] = [
      instance('held', hours(1)),
      instance('young', seconds(15 * 60 - 1)),
      instance('old', minutes(15)),
    ];
    expect(orphanCandidates(NOW, [held, young, old], new Set(['held', undefined, 'other']))).toEqual([old]);
  });
});

describe('decide', () => {
  const present = (owner: InstanceOwner): FoundInstance => ({ kind: 'present', instanceState: 'running', owner });
  const HELD_BY_NOTHING = present('nothing');
  const ENDING: FoundInstance = { kind: 'ending', instanceState: 'terminated' };
  const seen = (fields: Partial<OrphanObservation> = {}): OrphanObservation => ({
    now: NOW,
    instance: HELD_BY_NOTHING,
    hasFormerOwner: false,
    leftTime: undefined,
    entry: undefined,
    ...fields,
  });
  const entry = { since: ago(hours(50)), reportedTime: ago(hours(24)) };
  const reportedLately = { since: ago(hours(50)), reportedTime: ago(hours(23)) };
  const inAnHour = addDuration(NOW, hours(1));
  const tomorrow = addDuration(NOW, hours(24));

  it.each([
    ['nothing has it: said', seen(), { kind: 'report', since: NOW, instanceState: 'running' }],
    [
      'said again after a day, since when it is known',
      seen({ entry }),
      { kind: 'report', since: entry.since, instanceState: 'running' },
    ],
    ['not before', seen({ entry: reportedLately }), { kind: 'wait', until: inAnHour }],
    [
      'a person has seen to it: silent',
      seen({ entry: { ...entry, forgotten: true } }),
      { kind: 'wait', until: tomorrow },
    ],
    [
      'a person has seen to it, and it ended',
      seen({ instance: ENDING, entry: { ...entry, forgotten: true } }),
      { kind: 'close', because: 'InstanceEnded', instanceState: 'terminated' },
    ],
    ['it ended: nothing to say', seen({ instance: ENDING }), { kind: 'ignore' }],
    [
      'it ended: closed',
      seen({ instance: ENDING, entry: reportedLately }),
      { kind: 'close', because: 'InstanceEnded', instanceState: 'terminated' },
    ],
    ['a NodeClaim has it', seen({ instance: present('NodeClaim') }), { kind: 'ignore' }],
    [
      'a NodeClaim has it by now',
      seen({ instance: present('NodeClaim'), entry }),
      { kind: 'close', because: 'InstanceHeld', owner: 'NodeClaim' },
    ],
    ['a Node has it', seen({ instance: present('Node') }), { kind: 'ignore' }],
    [
      'a Node has it by now',
      seen({ instance: present('Node'), entry }),
      { kind: 'close', because: 'InstanceHeld', owner: 'Node' },
    ],
    [
      'nobody answers: asked again soon',
      seen({ instance: { kind: 'unavailable' }, entry }),
      { kind: 'wait', until: addDuration(NOW, minutes(5)) },
    ],
    ['I6: no whole list', seen({ instance: present('unknown') }), { kind: 'ignore' }],
    [
      'I6: no whole list, again later',
      seen({ instance: present('unknown'), entry }),
      { kind: 'wait', until: tomorrow },
    ],
    [
      'its NodeClaim went, a Node is left',
      seen({ instance: present('Node'), hasFormerOwner: true }),
      { kind: 'report', since: NOW, instanceState: 'running' },
    ],
    [
      'its NodeClaim went an hour ago',
      seen({ hasFormerOwner: true, leftTime: ago(hours(1)) }),
      { kind: 'report', since: ago(hours(1)), instanceState: 'running' },
    ],
    [
      'another NodeClaim has it',
      seen({ instance: present('NodeClaim'), hasFormerOwner: true, entry }),
      { kind: 'close', because: 'InstanceHeld', owner: 'NodeClaim' },
    ],
  ] as const)('%s', (_, observation, decision) => {
    expect(decide(observation)).toEqual(decision);
  });

  it('never says of an instance that ends, or that a NodeClaim has, and waits into the future only', () => {
    const observations = fc.record({
      now: fc.constant(NOW),
      instance: fc.oneof(
        fc.constant(ENDING),
        fc.constantFrom('NodeClaim' as const, 'Node' as const, 'nothing' as const, 'unknown' as const).map(present),
      ),
      hasFormerOwner: fc.boolean(),
      leftTime: fc.constant(undefined),
      entry: fc.option(
        fc
          .integer({ min: 0, max: hours(100) })
          .map(age => ({ since: ago(hours(200)), reportedTime: ago(toDurationMs(age)) })),
        { nil: undefined },
      ),
    });
    fc.assert(
      fc.property(observations, observation => {
        const decision = decide(observation);
        if (decision.kind === 'report') {
          expect(observation.instance.kind).toBe('present');
          expect(observation.instance).not.toEqual(present('NodeClaim'));
        }
        if (decision.kind === 'wait') expect(decision.until).toBeGreaterThan(NOW);
        if (decision.kind !== 'report') expect(decision.kind === 'ignore').toBe(observation.entry === undefined);
      }),
    );
  });
});
