/** Builders for protection tests: good defaults, override what matters. */
import type { PodView } from '../../shared/domain/pod.ts';
import { DEFAULT_PROTECTION_POLICY, type ProtectionPolicy } from '../../shared/domain/protection.ts';
import { seconds } from '../../shared/domain/time.ts';
import { at } from './repair.ts';

export const CREATED = at('2024-01-01T10:00:00Z');
export const STARTED = at('2024-01-01T10:20:00Z');

/** A running pod on `n1`, created 10:00 and started 10:20; `doNotDisrupt` is the annotation's value, absent when undefined. */
export function aPod(doNotDisrupt: string | undefined, overrides: Partial<PodView> = {}): PodView {
  const name = overrides.name ?? 'web-0';
  return {
    name,
    namespace: 'prod',
    uid: `uid-${name}`,
    resourceVersion: '1',
    nodeName: 'n1',
    labels: {},
    annotations: doNotDisrupt === undefined ? {} : { 'karpenter.sh/do-not-disrupt': doNotDisrupt },
    ownerReferences: [],
    phase: 'Running',
    ready: true,
    notReadySince: undefined,
    creationTime: CREATED,
    startTime: STARTED,
    deletionTime: undefined,
    deletionGracePeriod: undefined,
    terminationGracePeriod: seconds(30),
    priorityClassName: undefined,
    tolerations: [],
    limitedResources: [],
    volumeClaims: [],
    ...overrides,
  };
}

export function aPolicy(overrides: Partial<ProtectionPolicy> = {}): ProtectionPolicy {
  return { ...DEFAULT_PROTECTION_POLICY, ...overrides };
}
