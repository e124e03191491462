/** Pods that come back onto a node that is drained. */
import { expect, it } from 'vitest';
import type { PodReturn } from '../../../../functions/drain/record.ts';
import { createPodReturns, withPodReturns } from '../../../../functions/drain/rule/pod-plan.ts';
import { addDuration, minutes, seconds, toTimestamp, type EpochMs } from '../../../../shared/domain/time.ts';
import { NOW, pod } from '../observations.ts';

const made = (name: string, time: EpochMs, owner?: string) =>
  pod(name, {
    creationTimestamp: toTimestamp(time),
    ...(owner !== undefined && {
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: owner, uid: owner, controller: true }],
    }),
  });
const at = (count: number): EpochMs => addDuration(NOW, seconds(count));
const returnState = (
  name: string,
  time: EpochMs,
  now: EpochMs,
  returns: readonly PodReturn[] = [],
  tried: string[] = [],
  others: readonly ReturnType<typeof made>[] = [],
) => {
  const asked = made(name, time, 'rs');
  return createPodReturns({ startTime: NOW, returns, tried }, [asked, ...others], now)(asked);
};

it('leaves pods alone that were there, or came before the scheduler knew of the cordon', () => {
  expect(returnState('a', at(-60), at(0))).toEqual({ kind: 'stays' });
  expect(returnState('a', at(5), at(6))).toEqual({ kind: 'stays' });
});

it('evicts the first return after ten seconds, the second after a minute, and waits for no third', () => {
  expect(returnState('a', at(20), at(20))).toEqual({ kind: 'waits', until: at(30) });
  expect(returnState('a', at(20), at(30))).toEqual({ kind: 'due' });
  const once = withPodReturns([], [made('a', at(20), 'rs')], at(30));
  expect(once).toEqual([{ of: 'rs', times: 1, time: at(30) }]);
  // What was evicted for it, and is blocked by a budget, is tried on.
  expect(returnState('a', at(20), at(31), once, ['uid-a'])).toEqual({ kind: 'stays' });
  expect(returnState('b', at(40), at(40), once)).toEqual({ kind: 'waits', until: at(90) });
  expect(returnState('b', at(40), at(90), once)).toEqual({ kind: 'due' });
  const twice = withPodReturns(once, [made('b', at(40), 'rs')], at(90));
  expect(returnState('c', at(100), at(100), twice)).toEqual({ kind: 'ignored' });
});

it('knows a pod without a controller by its name', () => {
  const web = made('web-0', at(20));
  expect(withPodReturns([], [web], at(30))).toEqual([{ of: 'ml/web-0', times: 1, time: at(30) }]);
});

it('evicts ten pods of one controller for one return', () => {
  const pods = Array.from({ length: 12 }, (_, index) => made(`p${index}`, at(20), 'rs'));
  const kinds = pods
    .map(createPodReturns({ startTime: NOW, returns: [], tried: [] }, pods, at(60)))
    .map(({ kind }) => kind);
  expect(kinds).toEqual([...Array.from({ length: 10 }, () => 'due'), 'waits', 'waits']);
  const other = createPodReturns({ startTime: NOW, returns: [], tried: [] }, [], at(60));
  expect([other(made('a', at(20), 'one')).kind, other(made('b', at(20), 'two')).kind]).toEqual(['due', 'due']);
  expect(addDuration(at(60), minutes(1))).toBe(at(120));
});

it('counts pods that come at once as one return, however many turns their evictions take', () => {
  const once: PodReturn[] = [{ of: 'rs', times: 1, time: at(30) }];
  expect(withPodReturns(once, [made('later', at(20), 'rs')], at(90))).toBe(once);
  expect(withPodReturns(once, [made('later', at(20), 'rs'), made('again', at(30), 'rs')], at(90))).toEqual([
    { of: 'rs', times: 2, time: at(90) },
  ]);
  const twice: PodReturn[] = [{ of: 'rs', times: 2, time: at(90) }];
  expect(returnState('later', at(20), at(149), twice)).toEqual({ kind: 'waits', until: at(150) });
  expect(returnState('later', at(20), at(150), twice)).toEqual({ kind: 'due' });
  expect(returnState('again', at(90), at(150), twice)).toEqual({ kind: 'ignored' });
});

it('leaves those that wait for their turn, too, once a pod of their controller has come back too often', () => {
  const twice: PodReturn[] = [{ of: 'rs', times: 2, time: at(90) }];
  const stateBeside = (other: ReturnType<typeof made>, tried: string[] = []) =>
    returnState('later', at(20), at(150), twice, tried, [other]);
  expect(stateBeside(made('again', at(90), 'rs'))).toEqual({ kind: 'ignored' });
  expect(stateBeside(made('again', at(90), 'rs'), ['uid-again'])).toEqual({ kind: 'due' });
  expect(stateBeside(made('again', at(90), 'another'))).toEqual({ kind: 'due' });
  expect(stateBeside(made('again', at(20), 'rs'))).toEqual({ kind: 'due' });
});
