/** Whether objects of a FinalizerRule can be seen in the version that it names. */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { CheckContext } from './invariant.ts';
import { dig, listOf } from './reading.ts';

/** Their definition serves other versions only, or none: nobody can do anything about them by this rule. */
export function isOutOfSight(rule: KubernetesObject, objects: CheckContext['objects']): boolean {
  const definition = objects('customresourcedefinitions.apiextensions.k8s.io').find(
    ({ spec }) =>
      dig(spec, 'group') === dig(rule, 'spec', 'group') && dig(spec, 'names', 'kind') === dig(rule, 'spec', 'kind'),
  );
  const served = listOf(dig(definition, 'spec', 'versions')).filter(each => dig(each, 'served') === true);
  return definition !== undefined && !served.some(each => dig(each, 'name') === dig(rule, 'spec', 'version'));
}
