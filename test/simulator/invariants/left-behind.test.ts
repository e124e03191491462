import { describe, expect, it } from 'vitest';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import type { ObservedWrite } from '../../../packages/kube-apiserver/src/types.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { minutes, toEpochMs } from '../../../shared/domain/time.ts';
import type { CheckContext } from '../../../simulator/invariants/invariant.ts';
import { checkLeftBehind } from '../../../simulator/invariants/left-behind.ts';

const CLAIMS: ObservedWrite['resource'] = {
  ...RESOURCES.NodeClaim,
  kind: 'NodeClaim',
  listKind: 'NodeClaimList',
  singular: 'nodeclaim',
  shortNames: [],
  categories: [],
  namespaced: false,
  hasStatus: true,
  verbs: [],
  subresources: [],
};
const THEIRS = '2024-11-01T16:48:21Z';
const OURS = '2024-11-01T15:17:06Z';

const claimWith = (timestamp: string | undefined): KubernetesObject => ({
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodeClaim',
  metadata: {
    name: 'a',
    uid: 'u1',
    resourceVersion: '1',
    creationTimestamp: '2024-11-01T15:00:00Z',
    ...(timestamp !== undefined && { annotations: { 'karpenter.sh/nodeclaim-termination-timestamp': timestamp } }),
  },
});

/** What the check says once Curfew has written these, one after the other, and nothing is disturbed for a day. */
function saidAfter(...values: readonly (string | undefined)[]): readonly string[] {
  const said: string[] = [];
  let now = toEpochMs(0);
  const last = claimWith(values.at(-1));
  const context: Pick<CheckContext, 'now' | 'quietSince' | 'lastDenial' | 'violate'> & { mirror: unknown } = {
    now: () => now,
    quietSince: () => toEpochMs(0),
    lastDenial: () => 0,
    violate: (_, message) => said.push(message),
    mirror: { all: () => new Map([['u1', last]]) },
  };
  const check = checkLeftBehind(context as CheckContext);
  for (const [index, value] of values.slice(1).entries()) {
    check.onWrite?.(
      {
        verb: 'patch',
        user: 'curfew:repair',
        ref: { type: RESOURCES.NodeClaim, name: 'a' },
        resource: CLAIMS,
        before: claimWith(values[index]),
        after: claimWith(value),
      },
      'repair',
    );
  }
  now = toEpochMs(minutes(24 * 60));
  check.onMinute?.();
  return said;
}

describe('the annotation that makes a termination forceful', () => {
  it('is left behind by a repair that did not carry it out', () => {
    expect(saidAfter(undefined, OURS)).toHaveLength(1);
    expect(saidAfter(THEIRS, OURS)).toHaveLength(1);
  });

  it('is not when it goes, or what stood there before comes back', () => {
    expect(saidAfter(undefined, OURS, undefined)).toEqual([]);
    expect(saidAfter(THEIRS, OURS, THEIRS)).toEqual([]);
    expect(saidAfter(THEIRS, OURS, '2024-11-01T15:18:06Z', THEIRS)).toEqual([]);
  });
});
