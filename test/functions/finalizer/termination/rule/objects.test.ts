import { describe, expect, it } from 'vitest';
import {
  isKarpenters,
  isManaged,
  isRegistered,
  launchTimeOf,
  toTerminatedObject,
} from '../../../../../functions/finalizer/termination/rule/objects.ts';
import type { JsonObject, KubernetesObject } from '../../../../../shared/domain/kubernetes-object.ts';
import { toEpochMs } from '../../../../../shared/domain/time.ts';

const CREATED = '2024-11-01T15:00:00Z';
const LAUNCHED = '2024-11-01T15:01:00Z';
const at = (text: string) => toEpochMs(Date.parse(text));

const object = (
  kind: 'Node' | 'NodeClaim',
  status: JsonObject = {},
  metadata: Partial<KubernetesObject['metadata']> = {},
): KubernetesObject => ({
  apiVersion: kind === 'Node' ? 'v1' : 'karpenter.sh/v1',
  kind,
  metadata: { name: 'a', uid: `uid-${kind}`, resourceVersion: '1', creationTimestamp: CREATED, ...metadata },
  status,
});
const condition = (type: string, status: string): JsonObject => ({
  conditions: [{ type, status, lastTransitionTime: LAUNCHED }],
});

describe('when an instance was launched', () => {
  const node = object('Node', {}, { creationTimestamp: LAUNCHED });
  it.each<[string, KubernetesObject | undefined, readonly KubernetesObject[], string | undefined]>([
    ['is said by the condition Launched', object('NodeClaim', condition('Launched', 'True')), [], LAUNCHED],
    [
      'is the creation of a NodeClaim that is not launched',
      object('NodeClaim', condition('Launched', 'False')),
      [],
      CREATED,
    ],
    ['is not said by another condition', object('NodeClaim', condition('Initialized', 'True')), [], CREATED],
    ['is said without a status, too', { ...object('NodeClaim'), status: undefined } as unknown as KubernetesObject, [], CREATED], // prettier-ignore
    ['is the creation of the NodeClaim, not of its Node', object('NodeClaim'), [node], CREATED],
    ['is the creation of a Node without a NodeClaim', undefined, [node], LAUNCHED],
    ['is said by nobody where there is neither', undefined, [], undefined],
  ])('%s', (_, claim, nodes, expected) => {
    expect(launchTimeOf({ claim, nodes })).toBe(expected === undefined ? undefined : at(expected));
  });
});

describe('a NodeClaim', () => {
  it.each<[string, JsonObject, boolean]>([
    ['whose condition says so', condition('Registered', 'True'), true],
    [
      'whose condition denies it, though it names a Node',
      { nodeName: 'n1', ...condition('Registered', 'False') },
      false,
    ],
    ['whose condition is not known yet', condition('Registered', 'Unknown'), false],
    ['without the condition that names a Node', { nodeName: 'n1' }, true],
    ['without the condition that names none', {}, false],
    ['with another condition', condition('Initialized', 'True'), false],
    ['without a status', undefined as unknown as JsonObject, false],
  ])('%s: registered %s', (_, status, expected) => {
    expect(isRegistered(object('NodeClaim', status))).toBe(expected);
  });
});

describe('an object that a finalizer of ours is or was on', () => {
  const mark = { 'curfew.dev/termination-finalizer': 'example.com/custom' };
  it.each<[string, Partial<KubernetesObject['metadata']>, boolean]>([
    ['carries the default name', { finalizers: ['curfew.dev/termination'] }, true],
    ['carries our mark, also where somebody took the finalizer off', { annotations: mark }, true],
    ["carries another's alone", { finalizers: ['karpenter.sh/termination', 'example.com/custom'] }, false],
    ['carries nothing', {}, false],
  ])('%s: %s', (_, metadata, expected) => {
    expect(isManaged(object('Node', {}, metadata))).toBe(expected);
  });

  it("is Karpenter's by its finalizer", () => {
    expect(
      [['karpenter.sh/termination'], ['curfew.dev/termination'], undefined].map(finalizers =>
        isKarpenters(object('Node', {}, finalizers && { finalizers })),
      ),
    ).toEqual([true, false, false]);
  });

  it('is read as what it is', () => {
    const plain = { name: 'a', finalizers: [], finalizerMark: undefined, deletionTime: undefined };
    expect(toTerminatedObject(object('Node'))).toEqual({ ...plain, kind: 'Node', uid: 'uid-Node' });
  });

  it('is read with its mark and the time of its deletion', () => {
    const metadata = { finalizers: ['f'], annotations: mark, deletionTimestamp: LAUNCHED };
    expect(toTerminatedObject(object('NodeClaim', {}, metadata))).toEqual({
      kind: 'NodeClaim',
      name: 'a',
      uid: 'uid-NodeClaim',
      finalizers: ['f'],
      finalizerMark: 'example.com/custom',
      deletionTime: at(LAUNCHED),
    });
  });
});
