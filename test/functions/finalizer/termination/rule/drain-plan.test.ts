import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isDrained,
  planDrain,
  type DrainPlan,
} from '../../../../../functions/finalizer/termination/rule/drain-plan.ts';
import { forcedGraceSeconds, isForced } from '../../../../../shared/domain/forced-deletion.ts';
import type { PodView } from '../../../../../shared/domain/pod.ts';
import { addDuration, minutes, seconds, toDurationMs, type EpochMs } from '../../../../../shared/domain/time.ts';
import { aPod, aPolicy, CREATED } from '../../../../builders/pods.ts';

const T = addDuration(CREATED, minutes(60));
const after = (count: number): EpochMs => addDuration(T, seconds(count));
const plan = (pods: readonly PodView[], options: { now?: EpochMs; deadline?: EpochMs } = {}): DrainPlan =>
  planDrain({ now: options.now ?? T, pods, deadline: options.deadline, protection: aPolicy() });
const summary = ({ steps }: DrainPlan): readonly string[] =>
  steps.map(step => `${step.pod.name} ${step.kind === 'wait' ? step.because : step.kind}`);
const daemon = { ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: 'd' }] };

describe('a drain', () => {
  it('goes group by group (N15)', () => {
    const plain = aPod(undefined, { name: 'plain' });
    const critical = aPod(undefined, { name: 'critical', priorityClassName: 'system-cluster-critical' });
    const agent = aPod(undefined, { name: 'agent', ...daemon });
    expect(summary(plan([agent, critical, plain]))).toEqual(['agent LaterGroup', 'critical LaterGroup', 'plain evict']);
    expect(summary(plan([agent, critical]))).toEqual(['agent evict', 'critical LaterGroup']);
    expect(summary(plan([{ ...plain, deletionTime: after(10) }, agent]))).toEqual([
      'plain Terminating',
      'agent LaterGroup',
    ]);
    expect(plan([]).isDrained).toBe(true);
  });

  it('leaves a protected pod alone until an instant after its protection has ended, which is said first', () => {
    const held = aPod('2h', { name: 'held' });
    const seen = plan([held, aPod(undefined, { name: 'free' })]);
    expect(summary(seen)).toEqual(['held Protected', 'free evict']);
    const end = addDuration(CREATED, minutes(120));
    const afterwards = addDuration(end, seconds(0.001));
    expect(seen.nextLook).toBe(afterwards);
    expect(summary(plan([held], { now: end }))).toEqual(['held Protected']);
    expect(summary(plan([held], { now: afterwards }))).toEqual(['held evict']);
  });

  it('with `true` waits without end (A20)', () => {
    expect(plan([aPod('true')]).nextLook).toBeUndefined();
  });

  it('forces at the deadline minus the grace of each pod (N24, A21)', () => {
    const pod = aPod('true', { terminationGracePeriod: seconds(60) });
    const deadline = after(300);
    expect(summary(plan([pod], { now: after(90), deadline }))).toEqual(['web-0 Protected']);
    expect(plan([pod], { now: after(90), deadline }).nextLook).toBe(after(240));
    const [step] = plan([pod], { now: after(240), deadline }).steps;
    expect(step).toMatchObject({
      kind: 'delete',
      gracePeriodSeconds: 60,
      overriddenProtection: { kind: 'indefinite' },
    });
    expect(plan([pod], { now: after(265), deadline }).steps).toMatchObject([
      { kind: 'delete', gracePeriodSeconds: 35 },
    ]);
  });

  it('I2: names the protection that it overrides, and none that is not there or is over', () => {
    const pods = ['true', '1h', undefined].map((value, index) => aPod(value, { name: `p${index}` }));
    const { steps } = plan(pods, { now: after(300), deadline: after(300) });
    expect(steps).toEqual([
      expect.objectContaining({
        kind: 'delete',
        overriddenProtection: expect.objectContaining({ kind: 'indefinite' }),
      }),
      expect.objectContaining({ kind: 'delete', overriddenProtection: undefined }),
      expect.objectContaining({ kind: 'delete', overriddenProtection: undefined }),
    ]);
  });

  it('does not look again by a deadline at which there is nothing left to shorten', () => {
    const stopping = aPod(undefined, { deletionTime: after(1) });
    const { nextForcedDeletion, nextLook } = plan([stopping], { deadline: T });
    expect({ nextForcedDeletion, nextLook }).toEqual({ nextForcedDeletion: undefined, nextLook: after(61.001) });
  });

  it('deletes at once what needs more grace than there is (N22)', () => {
    const pod = aPod('true', { terminationGracePeriod: seconds(300) });
    expect(plan([pod], { now: after(10), deadline: after(300) }).steps).toMatchObject([
      { kind: 'delete', gracePeriodSeconds: 290 },
    ]);
  });

  it('waits for a protected pod that may stay on a tainted Node, and passes others of its kind over', () => {
    const tolerations = [{ key: 'karpenter.sh/disrupted', operator: 'Exists', value: '', effect: undefined }];
    const stays = aPod(undefined, { name: 'stays', tolerations });
    const ended = aPod('true', { name: 'ended', phase: 'Succeeded' });
    const held = aPod('true', { name: 'held', tolerations });
    const seen = plan([stays, ended, held, aPod(undefined)]);
    expect(summary(seen)).toEqual(['held Protected', 'web-0 evict']);
    expect(seen.skippedPods).toEqual([
      { pod: stays, because: 'ToleratesDisruption' },
      { pod: ended, because: 'Finished' },
    ]);
  });

  it('passes over a protected pod that has finished', () => {
    const finished = aPod('true', { name: 'finished', phase: 'Succeeded' });
    expect(plan([finished])).toMatchObject({ steps: [], skippedPods: [{ because: 'Finished' }], isDrained: true });
  });

  it('lets no pod that is forced hold up the next group', () => {
    const slow = aPod(undefined, { name: 'slow', terminationGracePeriod: seconds(600) });
    const critical = aPod(undefined, { name: 'critical', priorityClassName: 'system-cluster-critical' });
    expect(summary(plan([slow, critical], { deadline: after(300) }))).toEqual(['slow delete', 'critical evict']);
  });

  it('forces pods of every group at once', () => {
    const agent = aPod(undefined, { name: 'agent', ...daemon });
    expect(summary(plan([agent, aPod(undefined)], { now: after(10), deadline: after(10) }))).toEqual([
      'agent delete',
      'web-0 delete',
    ]);
  });

  it('shortens the grace of what would end after the deadline, once', () => {
    const pod = aPod(undefined, { deletionTime: after(600), terminationGracePeriod: seconds(600) });
    expect(plan([pod], { deadline: after(60) }).steps).toMatchObject([{ kind: 'delete', gracePeriodSeconds: 60 }]);
    expect(summary(plan([{ ...pod, deletionTime: after(60) }], { deadline: after(60) }))).toEqual([
      'web-0 Terminating',
    ]);
    const past = { now: T, deadline: after(-3600) };
    expect(plan([pod], past).steps).toMatchObject([{ kind: 'delete', gracePeriodSeconds: 1 }]);
    expect(summary(plan([{ ...pod, deletionTime: after(1) }], past))).toEqual(['web-0 Terminating']);
  });

  it('lets a pod that was deleted long ago run until the deadline', () => {
    // Asked for 30 minutes ago with an hour of grace: the API server counts a shorter grace from then, too.
    const stopping = { deletionTime: after(1800), deletionGracePeriod: seconds(3600) };
    const pod = aPod(undefined, { ...stopping, terminationGracePeriod: seconds(3600) });
    expect(plan([pod], { deadline: after(600) }).steps).toMatchObject([{ kind: 'delete', gracePeriodSeconds: 2400 }]);
    expect(plan([pod], { deadline: after(0) }).steps).toMatchObject([{ kind: 'delete', gracePeriodSeconds: 1 }]);
    expect(plan([pod], { deadline: after(-60) }).steps).toMatchObject([{ kind: 'delete', gracePeriodSeconds: 1 }]);
  });

  it('does not wait for a pod whose kubelet is silent', () => {
    const pod = aPod(undefined, { deletionTime: T });
    expect(plan([pod]).nextLook).toBe(addDuration(T, toDurationMs(60_001)));
    expect(plan([pod], { now: addDuration(T, toDurationMs(60_001)) })).toMatchObject({ isDrained: true });
  });

  it('never forces without a deadline (Q14)', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10 ** 9 }), grace => {
        expect(isForced(aPod(undefined, { terminationGracePeriod: toDurationMs(grace) }), undefined, T)).toBe(false);
      }),
    );
  });

  it('forces so that the grace ends at the deadline, and never with grace below one second', () => {
    fc.assert(
      fc.property(fc.integer({ min: -3600, max: 3600 }), fc.integer({ min: 0, max: 600 }), (offset, grace) => {
        const now = after(offset);
        const deadline = after(0);
        const pod = aPod('true', { terminationGracePeriod: seconds(grace) });
        expect(isForced(pod, deadline, now)).toBe(offset >= -grace);
        const granted = forcedGraceSeconds(pod, deadline, now);
        expect(granted).toBe(Math.max(1, -offset));
      }),
    );
  });
});

describe('a drain is over', () => {
  const going = aPod(undefined, { name: 'going', uid: 'going', deletionTime: after(-1) });
  const started = aPod(undefined, { name: 'started', uid: 'started', deletionTime: after(1) });
  const running = aPod(undefined, { name: 'running', uid: 'running' });
  const isOver = (
    pods: readonly PodView[],
    answers: Readonly<Record<string, string>> = {},
    isPastDeadline = true,
  ): boolean => {
    const wanted = plan(pods, { deadline: T });
    const results = pods.flatMap(pod => {
      const kind = answers[pod.uid];
      return kind === undefined ? [] : [{ removal: { pod }, answer: { kind } }];
    });
    return isDrained(wanted, results, { isForced: isPastDeadline, now: T });
  };

  it.each<readonly [string, Parameters<typeof isOver>, boolean]>([
    ['without pods', [[], {}, false], true],
    ['not while a pod is left, before the deadline', [[going], {}, false], false],
    ['past the deadline, once the grace of the last pod is over', [[going]], true],
    ['not while a pod has grace left', [[going, started]], false],
    ['not while a pod was not asked to go', [[running]], false],
    ['where the deletion of the last pod was refused', [[running], { running: 'refused' }], true],
    ['where the last pod was not found', [[running], { running: 'noSuchPod' }], true],
    ['where another pod has its name', [[running], { running: 'replaced' }], true],
    ['not where a pod was just deleted', [[going], { going: 'deleted' }], false],
    ['not where one of several was just deleted', [[going, running], { going: 'refused', running: 'deleted' }], false],
  ])('%s', (_, given, expected) => {
    expect(isOver(...given)).toBe(expected);
  });
});
