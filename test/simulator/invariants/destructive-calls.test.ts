/** I6 of a termination: what spares pods, volumes and hooks is needless at the deadline that forces; whose instance it is never is. */
import { describe, expect, it } from 'vitest';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { type DurationMs, seconds, toEpochMs } from '../../../shared/domain/time.ts';
import { checkDestructiveCalls } from '../../../simulator/invariants/destructive-calls.ts';
import type { CheckContext, PortCall, Run } from '../../../simulator/invariants/invariant.ts';
import { mirrorOf } from '../../builders/mirror.ts';

const CLAIM: KubernetesObject = {
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodeClaim',
  metadata: {
    name: 'a-claim',
    uid: 'uid-of-claim',
    resourceVersion: '1',
    creationTimestamp: '2024-11-01T14:00:00Z',
    deletionTimestamp: '2024-11-01T15:00:00Z',
  },
  spec: { terminationGracePeriod: '2m' },
  status: { providerID: 'aws:///z/i-a', nodeName: 'a' },
};
const POD: KubernetesObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'p',
    namespace: 'prod',
    uid: 'uid-of-pod',
    resourceVersion: '1',
    creationTimestamp: '2024-11-01T14:00:00Z',
  },
  spec: { nodeName: 'a', terminationGracePeriodSeconds: 60 },
};
const FAILED = { kind: 'failed', error: new Error('429') } as const;
const answered = (value: unknown) => ({ kind: 'answered', value }) as const;

type Called = Pick<PortCall, 'port' | 'method' | 'args'>;
const CLAIM_REF = { type: RESOURCES.NodeClaim, name: 'a-claim' };

/** What is found of an act of the finalizer, at that time, in a run in which one read failed. @param clockTolerance how far its clock may be off */
function complaintsAbout(
  act: Called,
  failedRead: Pick<PortCall, 'method' | 'args'>,
  time: string,
  clockTolerance = seconds(0),
): readonly string[] {
  const found: string[] = [];
  const now = toEpochMs(Date.parse(time));
  const mirror = mirrorOf({ nodeclaims: [CLAIM] });
  const violate: CheckContext['violate'] = (invariant, message) => void found.push(`${invariant}: ${message}`);
  const made = (called: Called, outcome: PortCall['outcome']): PortCall => ({ ...called, time: now, outcome });
  const record = { owner: 'finalizer', id: 'nodeclaim/uid-of-claim' };
  const run: Run = {
    by: 'finalizer',
    startTime: now,
    calls: [
      made({ port: 'kubernetes', method: 'get', args: [CLAIM_REF] }, answered({ object: CLAIM })),
      made({ port: 'kubernetes', method: 'list', args: [RESOURCES.Pod, {}] }, answered({ objects: [POD] })),
      made({ port: 'records', method: 'put', args: [record] }, answered({ kind: 'written' })),
      made({ port: 'kubernetes', ...failedRead }, FAILED),
    ],
  };
  const context = { mirror, violate, clockTolerance } as CheckContext;
  checkDestructiveCalls(context).onCall?.(made(act, { kind: 'pending' }), run);
  return found;
}

/** Of the end of the instance. */
function complaintsOf(
  clockTolerance: DurationMs,
  time: string,
  method: 'get' | 'list',
  ...args: readonly unknown[]
): readonly string[] {
  const terminate = { port: 'instances', method: 'terminate', args: ['aws:///z/i-a'] } as const;
  return complaintsAbout(terminate, { method, args }, time, clockTolerance);
}

const complaints = (time: string, method: 'get' | 'list', ...args: readonly unknown[]): readonly string[] =>
  complaintsOf(seconds(0), time, method, ...args);

describe('an instance that is ended although something could not be read', () => {
  it.each<readonly [string, 'get' | 'list', readonly unknown[]]>([['the pods', 'list', [RESOURCES.Pod, {}]]])(
    'before the deadline: %s',
    (_, method, args) => {
      expect(complaints('2024-11-01T15:01:59Z', method, ...args)).toEqual([
        expect.stringMatching(/^I6: .* could not read/),
      ]);
      expect(complaints('2024-11-01T15:02:00Z', method, ...args)).toEqual([]);
    },
  );

  it('by the clock of the function, which may be ahead', () => {
    expect(complaintsOf(seconds(2), '2024-11-01T15:01:57Z', 'list', RESOURCES.Pod, {})).toHaveLength(1);
    expect(complaintsOf(seconds(2), '2024-11-01T15:01:58Z', 'list', RESOURCES.Pod, {})).toEqual([]);
  });

  it('at any time: the NodeClaims, of which another may have the instance', () => {
    for (const time of ['2024-11-01T15:01:59Z', '2024-11-01T15:02:00Z'])
      expect(complaints(time, 'list', RESOURCES.NodeClaim, {})).toEqual([expect.stringMatching(/^I6: /)]);
  });
});

describe('a pod that is deleted although the policies could not be read', () => {
  const complaintsOfPod = (method: 'delete' | 'evict', time: string): readonly string[] => {
    const ref = { type: RESOURCES.Pod, namespace: 'prod', name: 'p' };
    const act = { port: 'kubernetes', method, args: [ref, { preconditions: { uid: 'uid-of-pod' } }] } as const;
    return complaintsAbout(act, { method: 'list', args: [RESOURCES.NodeLifecyclePolicy, {}] }, time);
  };

  it('has its own grace period before the deadline of its node, also where it is gone once the call is answered', () => {
    expect(complaintsOfPod('delete', '2024-11-01T15:00:59Z')).toEqual([expect.stringMatching(/^I6: /)]);
    expect(complaintsOfPod('delete', '2024-11-01T15:01:00Z')).toEqual([]);
  });

  it('is not evicted for it', () => {
    expect(complaintsOfPod('evict', '2024-11-01T15:01:00Z')).toEqual([expect.stringMatching(/^I6: /)]);
  });
});

describe('a NodeClaim that is deleted although a read of it failed', () => {
  const complaintsOfDelete = (preconditions: object, read: unknown): readonly string[] => {
    const remove = { port: 'kubernetes', method: 'delete', args: [CLAIM_REF, { preconditions }] } as const;
    return complaintsAbout(remove, { method: 'get', args: [read] }, '2024-11-01T15:01:00Z');
  };

  it('is judged by the API server where the delete names the exact version', () => {
    expect(complaintsOfDelete({ uid: 'uid-of-claim', resourceVersion: '1' }, CLAIM_REF)).toEqual([]);
  });

  it('may have changed where the delete names the UID alone', () => {
    expect(complaintsOfDelete({ uid: 'uid-of-claim' }, CLAIM_REF)).toEqual([
      expect.stringMatching(/^I6: .* could not read/),
    ]);
  });

  it('needs its Node as well, of which the version says nothing', () => {
    const node = { type: RESOURCES.Node, name: 'a' };
    expect(complaintsOfDelete({ uid: 'uid-of-claim', resourceVersion: '1' }, node)).toEqual([
      expect.stringMatching(/^I6: .* could not read/),
    ]);
  });
});
