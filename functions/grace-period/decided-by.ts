/** Which settings of a policy decided until when the pods of a node are protected. Pure. */
import type { JsonObject } from '../../shared/domain/kubernetes-object.ts';
import type { SourcedProtection } from '../../shared/policies/protection-settings.ts';
import { settingPlace } from '../../shared/policies/setting-place.ts';
import type { AnnotatedPod } from './announcements.ts';

/** Empty where the annotations alone decided. */
export function decidedBy({ policy, source }: SourcedProtection, pods: readonly AnnotatedPod[]): readonly JsonObject[] {
  const caps = pods.flatMap(({ pod, protection }) => {
    if (protection.kind !== 'until' || protection.cappedTo === undefined) return [];
    return policy.maxDurations.has(pod.namespace) ? 'spec.protection.namespaces' : 'spec.protection.maxDuration';
  });
  const rules = policy.compatibility === 'Karpenter' && pods.length > 0 ? ['spec.protection.compatibility'] : [];
  return [...new Set([...rules, ...caps])]
    .map(field => settingPlace(source, field))
    .filter(place => place !== undefined);
}
