/** Whose turn it is in `repair.actions`. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isRebootUnderWay, newNode, withAcceptedAttempt } from '../../../../../functions/repair/node/rule/attempt.ts';
import {
  actsOf,
  LAST_REBOOT_ANNOTATION,
  lastRebootText,
} from '../../../../../functions/repair/node/rule/reboot-marks.ts';
import { incidentAt } from '../../../../../functions/repair/node/rule/incident.ts';
import { isRebootTried, keyOf, ladderOf } from '../../../../../functions/repair/node/rule/ladder.ts';
import { nextAction, actionsTakenBefore } from '../../../../../functions/repair/node/rule/next-action.ts';
import type { Attempt } from '../../../../../functions/repair/node/attempt-record.ts';
import type { Act, NodeRecord } from '../../../../../functions/repair/node/record.ts';
import type { LadderAction } from '../../../../../functions/repair/node/rule/verdict.ts';
import type { JsonObject } from '../../../../../shared/domain/kubernetes-object.ts';
import type { Refusal } from '../../../../../shared/domain/refusal.ts';
import { addDuration, type EpochMs, hours, minutes, seconds, toDurationMs } from '../../../../../shared/domain/time.ts';
import { anAttempt, someSettings, T } from '../../../../builders/repair.ts';

const at = (minute: number): EpochMs => addDuration(T, toDurationMs(minute * 60_000));
const ladder = (...actions: readonly JsonObject[]): readonly LadderAction[] =>
  ladderOf(someSettings({ actions: [...actions] }));
const THREE = ladder(
  { type: 'Reboot', timeout: '10m' },
  { type: 'CustomResource', template: 'fix.yaml', timeout: '5m' },
  { type: 'Terminate', timeout: '1h' },
);
const [REBOOT, FIX, TERMINATE] = THREE.map(keyOf) as [string, string, string];
const acts = (key: string, ...times: readonly number[]): readonly Act[] =>
  times.map(time => ({ key, action: 'Reboot', time: at(time) }));
const refused = (cause: Refusal['cause'], firstTime: number, count = 1, basis = ''): Refusal => ({
  cause,
  message: 'no',
  basis,
  count,
  firstTime: at(firstTime),
  lastTime: at(firstTime),
});

interface Given {
  readonly ladder?: readonly LadderAction[];
  readonly taken?: readonly string[];
  readonly acts?: readonly Act[];
  readonly refusals?: Readonly<Record<string, Refusal>>;
  readonly now?: number;
}

function turn({ ladder = THREE, taken = [], acts: done = [], refusals, now = 0 }: Given): string {
  const found = nextAction({ ladder, taken, acts: done, refusals, basis: '' }, at(now));
  if (found.kind === 'next') return keyOf(found.action);
  const until = found.until === undefined ? 'for good' : `${(found.until - T) / 60_000}`;
  return `${found.kind} ${until}`;
}

describe('the turn', () => {
  it.each<[string, Given, string]>([
    ['is that of the first one', {}, REBOOT],
    ['is that of the first one not taken', { taken: [REBOOT] }, FIX],
    ['is that of an earlier one, where a later one was taken', { taken: [REBOOT, TERMINATE] }, FIX],
    ['is nobody’s once all were taken', { taken: [REBOOT, FIX, TERMINATE] }, 'exhausted for good'],
    ['passes over what has no attempt left in a day', { acts: acts(REBOOT, -600, -60) }, FIX],
    ['is that of one of which an attempt has come back', { acts: acts(REBOOT, -1440, -60) }, REBOOT],
    [
      'counts an allowance whatever the time that the action was given',
      { acts: [...acts('Reboot||60000', -600), ...acts(REBOOT, -60)] },
      FIX,
    ],
    [
      'counts each template by itself',
      { taken: [REBOOT], acts: acts('CustomResource|other.yaml|300000', -2, -1) },
      FIX,
    ],
    ['comes back when an allowance does', { taken: [FIX, TERMINATE], acts: acts(REBOOT, -600, -60) }, 'exhausted 840'],
    ['bounds no termination', { taken: [REBOOT, FIX], acts: acts(TERMINATE, -3, -2, -1) }, TERMINATE],
    ['passes over what was refused', { refusals: { [REBOOT]: refused('request', 0) } }, FIX],
    [
      'waits for what may pass: it keeps its turn for five minutes',
      { refusals: { [REBOOT]: refused('passing', 0) } },
      `refused ${5 / 60}`,
    ],
    [
      'goes on where that has not passed in five minutes',
      { refusals: { [REBOOT]: { ...refused('passing', -5), lastTime: at(0) } } },
      FIX,
    ],
    [
      'waits for a custom resource that cannot be made as long as its action has',
      { taken: [REBOOT], refusals: { [FIX]: refused('passing', 0) } },
      'refused 0.5',
    ],
    [
      'is tried again after a minute where the last one was refused',
      { taken: [REBOOT, FIX], refusals: { [TERMINATE]: refused('request', 0) } },
      'refused 1',
    ],
    [
      'comes at once where that rested on something else',
      { taken: [REBOOT, FIX], refusals: { [TERMINATE]: refused('request', 0, 1, 'another') } },
      TERMINATE,
    ],
  ])('%s', (_, given, expected) => {
    expect(turn(given)).toBe(expected);
  });

  it('goes on after an edit with what is another action by now', () => {
    const edited = ladder({ type: 'Reboot', timeout: '20m' }, { type: 'Terminate', timeout: '1h' });
    expect(turn({ ladder: edited, taken: [REBOOT] })).toBe('Reboot||1200000');
    const moved = [...THREE.slice(1, 2), ...THREE.slice(0, 1), ...THREE.slice(2)];
    expect(turn({ ladder: moved, taken: [REBOOT] })).toBe(FIX);
    expect(turn({ ladder: moved, taken: [REBOOT, FIX] })).toBe(TERMINATE);
  });
});

describe('an incident of the same condition within a day', () => {
  const before = (type: string, key: string, time: number, done: readonly Act[] = []) => ({
    lastIncident: { type, key, time: at(time) },
    acts: done,
  });
  it.each<[string, ReturnType<typeof before> | { readonly lastIncident: undefined; readonly acts: [] }, string]>([
    ['begins at the last action taken', before('Ready', FIX, -60, acts(FIX, -60)), FIX],
    ['begins after it where it has no attempt left', before('Ready', REBOOT, -60, acts(REBOOT, -90, -60)), FIX],
    ['begins at a termination again', before('Ready', TERMINATE, -60, acts(TERMINATE, -90, -60)), TERMINATE],
    ['begins at the first one after a day', before('Ready', FIX, -1440, acts(FIX, -1440)), REBOOT],
    ['begins at the first one where the condition is another', before('Disk', FIX, -60), REBOOT],
    ['begins at the first one where the list has no such action', before('Ready', 'Reboot||1', -60), REBOOT],
    ['begins at the first one where there was none', { lastIncident: undefined, acts: [] }, REBOOT],
  ])('%s', (_, record, expected) => {
    expect(turn({ taken: actionsTakenBefore(record, 'Ready', THREE, at(0)), acts: record.acts })).toBe(expected);
  });
});

describe('what stands on the Node', () => {
  const annotated = (text: string): readonly Act[] => actsOf({ annotations: { [LAST_REBOOT_ANNOTATION]: text } });

  it('counts as so many reboots where the table has nothing', () => {
    const text = lastRebootText(acts(REBOOT, -60), at(0), 'boot-2');
    expect(annotated(text)).toEqual([
      { key: 'Reboot||0', action: 'Reboot', time: at(0), bootID: 'boot-2' },
      { key: 'Reboot||0', action: 'Reboot', time: at(0), bootID: 'boot-2' },
    ]);
    expect(turn({ acts: annotated(text), now: 1 })).toBe(FIX);
    expect(turn({ acts: annotated(text), now: 1440 })).toBe(REBOOT);
  });

  it.each(['', '{}', 'null', '[]', '{"time":5}', '{"time":"soon","count":1}'])('forbids nothing by %j', text => {
    expect(annotated(text)).toEqual([]);
  });

  it.each([
    ['{"time":"2024-11-01T15:00:00Z"}', 1],
    ['{"time":"2024-11-01T15:00:00Z","count":-3}', 1],
    ['{"time":"2024-11-01T15:00:00Z","count":"many"}', 1],
    ['{"time":"2024-11-01T15:00:00Z","count":1e4}', 20],
  ])('%s is %i reboots', (text, count) => {
    expect(annotated(text)).toHaveLength(count);
  });
});

describe('a node is under maintenance for a reboot', () => {
  const drain = { action: 'Drain', key: 'Drain before Reboot||600000' } as const;
  const reboot = { action: 'Reboot', key: REBOOT, until: at(10) } as const;
  const answer = (kind: 'succeeded' | 'stopped') => ({ answer: { kind, message: '' } });

  it.each<[string, Partial<Attempt> | undefined, boolean]>([
    ['not without an attempt', undefined, false],
    ['from the drain before it on', drain, true],
    ['once that drain is over', { ...drain, ...answer('succeeded') }, true],
    ['not once a person has stopped it', { ...drain, ...answer('stopped') }, false],
    ['not for another drain', { action: 'Drain', key: 'Drain||600000' }, false],
    ['while the reboot has time', reboot, true],
    ['not once its time is over', { ...reboot, until: at(0) }, false],
    ['while nobody knows whether it was asked for', { ...reboot, until: at(0), phase: 'intended' }, true],
    ['not for a termination', {}, false],
  ])('%s', (_, attempt, expected) => {
    expect(isRebootUnderWay(attempt && anAttempt('n1', attempt), at(0))).toBe(expected);
  });

  it.each<[string, readonly string[] | undefined, boolean]>([
    ['while it is tried again', [REBOOT], true],
    ['while the drain before it is tried again', ['Drain before Reboot||600000'], true],
    ['while anything else is tried again beside it', ['Drain||600000', REBOOT], true],
    ['not while only something else is', ['Drain||600000', FIX], false],
    ['not where nothing was refused', undefined, false],
  ])('%s', (_, keys, expected) => {
    expect(isRebootTried(keys && Object.fromEntries(keys.map(key => [key, refused('passing', 0)])))).toBe(expected);
  });
});

/** A node through incidents, acts and pauses; what was taken, in its order. */
const steps = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('act' as const), isAccepted: fc.boolean() }),
    fc.record({ kind: fc.constant('well' as const) }),
    fc.record({ kind: fc.constant('unhealthy' as const), type: fc.constantFrom('Ready', 'Disk') }),
    fc.record({ kind: fc.constant('wait' as const), minutes: fc.constantFrom(1, 4, 6, 60, 700, 1500) }),
  ),
  { maxLength: 60 },
);
const ladders = fc
  .tuple(
    fc.shuffledSubarray([
      { type: 'Reboot', timeout: '10m', attempts: 1, within: '2h' },
      { type: 'Reboot', timeout: '20m' },
      { type: 'CustomResource', template: 'a', timeout: '5m', attempts: 3, within: '12h' },
    ]),
    fc.boolean(),
  )
  .map(([inPlace, isLast]) => [...inPlace, ...(isLast ? [{ type: 'Terminate', timeout: '1h' }] : [])])
  .filter(({ length }) => length > 0);

it('property: I11 no action twice for one incident, and none beyond its allowance', () => {
  fc.assert(
    fc.property(ladders, steps, (actions, story) => {
      const own = ladder(...actions);
      let record: NodeRecord = newNode('n1', 'default');
      let now = T;
      let type: string | undefined = 'Ready';
      let inThis: string[] = [];
      const all: Act[] = [];
      const look = (): void => {
        const incident = incidentAt(record.incident, type === undefined ? 'healthy' : 'unhealthy', now);
        if (incident === undefined) inThis = [];
        const { incident: _, ...rest } = record;
        record = { ...rest, ...(incident && { incident }) };
      };
      for (const step of story) {
        if (step.kind === 'wait') now = addDuration(now, minutes(step.minutes));
        if (step.kind === 'well') type = undefined;
        if (step.kind === 'unhealthy') type = step.type;
        look();
        if (step.kind !== 'act' || type === undefined) continue;
        const taken = record.incident?.taken ?? actionsTakenBefore(record, type, own, now);
        const { acts: done, refusals } = record;
        const next = nextAction({ ladder: own, taken, acts: done, refusals, basis: '' }, now);
        if (next.kind !== 'next') continue;
        const { action: rung } = next;
        record = { ...record, incident: { ...record.incident, type, taken: [...taken] } };
        if (!step.isAccepted) continue;
        expect(inThis).not.toContain(keyOf(rung));
        const within = all.filter(
          each => each.key.split('|')[0] === rung.type && each.time + rung.within > now && rung.type !== 'Terminate',
        );
        expect(within.length).toBeLessThan(rung.type === 'Terminate' ? Infinity : rung.attempts);
        inThis.push(keyOf(rung));
        all.push({ key: keyOf(rung), action: rung.type, time: now });
        const dueCondition = { ...anAttempt('n1').dueCondition, conditionType: type };
        const attempt = anAttempt('n1', { time: now, action: rung.type, key: keyOf(rung), dueCondition });
        record = withAcceptedAttempt(record, attempt, own);
      }
    }),
    { numRuns: 500 },
  );
});

it('what may pass is tried again after 5 s, 10 s, 20 s …, a minute at most', () => {
  const after = (count: number): string => {
    const refusal = { ...refused('passing', 0, count), lastTime: at(1) };
    return turn({ refusals: { [REBOOT]: refusal }, now: 1 });
  };
  const inSeconds = [5, 10, 20, 40, 60, 60];
  expect(inSeconds.map((_, index) => after(index + 1))).toEqual(
    inSeconds.map(wait => `refused ${(addDuration(at(1), seconds(wait)) - T) / 60_000}`),
  );
  expect(hours(24)).toBe(minutes(1440));
});

describe('a reboot whose pods have time', () => {
  const withBound = (terminationGracePeriod: string, own?: number): readonly string[] =>
    ladderOf(
      someSettings({ terminationGracePeriod, actions: [{ type: 'Reboot', timeout: '4m' }, { type: 'Terminate' }] }),
      own === undefined ? undefined : minutes(own),
    ).map(({ type, timeout }) => `${type} ${timeout / 60_000}`);

  it.each<[string, number | undefined, readonly string[]]>([
    ['0s', undefined, ['Reboot 4', 'Terminate 60']],
    ['10m', undefined, ['Drain 10', 'Reboot 4', 'Terminate 60']],
    ['10m', 3, ['Drain 3', 'Reboot 4', 'Terminate 60']],
    ['10m', 0, ['Reboot 4', 'Terminate 60']],
    ['Inherit', undefined, ['Drain 4', 'Reboot 4', 'Terminate 60']],
    ['Inherit', 7, ['Drain 7', 'Reboot 4', 'Terminate 60']],
  ])('by the bound %s and the NodeClaim’s own %s', (bound, own, expected) => {
    expect(withBound(bound, own)).toEqual(expected);
  });

  const ladder = ladderOf(
    someSettings({
      terminationGracePeriod: '10m',
      actions: [{ type: 'Reboot', timeout: '10m' }, { type: 'Terminate' }],
    }),
  );
  const [drain, reboot, end] = ladder.map(keyOf) as [string, string, string];

  it.each<[string, Given, string]>([
    ['begins with its drain', {}, drain],
    ['follows it', { taken: [drain] }, reboot],
    ['is not drained for where no reboot is left', { acts: acts('Reboot||60000', -600, -60) }, end],
    ['is not drained for ever again, nor done without', { acts: acts(drain, -600, -60) }, end],
    ['counts no drain of another action', { acts: acts('Drain||600000', -600, -60) }, drain],
  ])('%s', (_name, given, expected) => {
    expect(turn({ ...given, ladder })).toBe(expected);
  });

  it('comes with its drain again in the next incident, while it has an attempt left', () => {
    const next = (key: string, times: readonly number[]): string => {
      const taken = actionsTakenBefore({ lastIncident: { type: 'Ready', key, time: at(0) } }, 'Ready', ladder, at(60));
      return turn({ ladder, taken, acts: acts(key, ...times) });
    };
    expect(next(reboot, [-30])).toBe(drain);
    expect(next(reboot, [-60, -30])).toBe(end);
    // Without its drain no machine is rebooted.
    expect(next(drain, [-60, -30])).toBe(end);
  });
});

describe('a termination after its drain', () => {
  const own = ladder({ type: 'DrainThenTerminate', timeout: '10m' });
  const [drain, end] = own.map(keyOf) as [string, string];
  const next = (...times: readonly number[]): string => {
    const taken = actionsTakenBefore(
      { lastIncident: { type: 'Ready', key: drain, time: at(-30) } },
      'Ready',
      own,
      at(0),
    );
    return turn({ ladder: own, taken, acts: acts(drain, ...times) });
  };

  it('follows the drain', () => {
    expect(turn({ ladder: own, taken: [drain] })).toBe(end);
    expect(next(-30)).toBe(drain);
  });

  it('comes at once where the drain has no attempt left', () => {
    expect(next(-60, -30)).toBe(end);
  });
});
