/** I1 notices a finalizer that goes too early: a function that takes it off at 15:10, whatever the state of the instance. */
import { describe, expect, it } from 'vitest';
import type { ReconcilerFactory } from '../../../runtime/functions.ts';
import { PERMISSIONS } from '../../../shared/contract/permissions.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import { parseTimestamp, toEpochMs } from '../../../shared/domain/time.ts';
import { simulate } from '../simulate.ts';
import { objectAt } from '../../fakes/objects.ts';

const CLAIM = { type: RESOURCES.NodeClaim, name: 'a' };
const TEN_PAST = parseTimestamp('2024-11-01T15:10:00Z') ?? toEpochMs(0);

const takesItOff: ReconcilerFactory = ({ kubernetes, clock }) => {
  let done = false;
  return async () => {
    const claim = await objectAt(kubernetes, CLAIM);
    if (done || claim === undefined || clock.now() < TEN_PAST) return;
    done = true;
    await kubernetes.patch(CLAIM, { type: 'merge', body: { metadata: { uid: claim.metadata.uid, finalizers: null } } });
  };
};

interface Given {
  readonly finalizer?: string;
  readonly spec?: string;
  readonly pool?: string;
  readonly policy?: string;
  readonly steps?: string;
}

async function violations({ finalizer = 'curfew.dev/termination', spec = '{}', pool, policy, steps = '' }: Given) {
  const { violations: found } = await simulate(
    `  actors: [cloud]
  objects:
    - apiVersion: karpenter.sh/v1
      kind: NodeClaim
      metadata: { name: a, labels: { karpenter.sh/nodepool: pool }, finalizers: [${finalizer}] }
      spec: ${spec}
      status: { nodeName: a, providerID: "aws:///us-west-2a/i-a" }
${pool === undefined ? '' : `    - { apiVersion: karpenter.sh/v1, kind: NodePool, metadata: { name: pool }, spec: { disruption: ${pool} } }\n`}${
      policy === undefined
        ? ''
        : `    - { apiVersion: curfew.dev/v1alpha1, kind: NodeLifecyclePolicy, metadata: { name: p }, spec: { termination: ${policy} } }\n`
    }  steps:
    - { at: 5m, delete: { resource: nodeclaims, name: a } }
${steps}`,
    {
      reconcilers: { timer: takesItOff, finalizer: () => async () => undefined },
      permissions: { timer: { ...PERMISSIONS.finalizer, readsDueIndex: true } },
    },
  );
  // Without its timer nothing is swept, which is another check's business.
  return found
    .filter(({ invariant }) => invariant !== 'I5')
    .map(({ invariant, message }) => `${invariant}: ${message.replace(/ \(uid [^)]*\)/, '')}`);
}

const ENDED = '    - { at: 6m, cloud: { providerID: "aws:///us-west-2a/i-a", state: terminated } }\n';

describe('the finalizer of a termination', () => {
  it('must stay while the instance runs and no deadline was set', async () => {
    expect(await violations({})).toEqual([
      'I1: timer takes curfew.dev/termination off NodeClaim a, whose instance is running and which has no deadline',
    ]);
  });

  it('may go when the instance is gone', async () => {
    expect(await violations({ steps: ENDED })).toEqual([]);
  });

  it.each([
    ['of the NodeClaim', (period: string) => ({ spec: `{ terminationGracePeriod: ${period} }` })],
    ['of its NodePool', (_: string, seconds: number) => ({ pool: `{ terminationGracePeriodSeconds: ${seconds} }` })],
    ['of a policy', (period: string) => ({ policy: `{ terminationGracePeriod: ${period} }` })],
  ])('may go at the deadline %s, and not before', async (_whose, after) => {
    expect(await violations(after('5m', 300))).toEqual([]);
    expect(await violations(after('6m', 360))).toEqual([
      'I1: timer takes curfew.dev/termination off NodeClaim a, whose instance is running and which has until 2024-11-01T15:11:00.000Z',
    ]);
  });

  it.each([
    ['a NodePool', { pool: '{ customFinalizerName: example.com/mine }' }],
    ['a policy', { policy: '{ finalizerName: example.com/mine }' }],
  ])('has the name that %s gives it', async (_whose, given: Given) => {
    expect(await violations({ ...given, finalizer: 'example.com/mine' })).toEqual([
      'I1: timer takes example.com/mine off NodeClaim a, whose instance is running and which has no deadline',
    ]);
  });

  it('of somebody else is never taken off (I7)', async () => {
    expect(await violations({ finalizer: 'example.com/theirs', steps: ENDED })).toEqual([
      'I7: timer takes away finalizer example.com/theirs of NodeClaim a, which somebody else had set to present',
    ]);
  });
});
