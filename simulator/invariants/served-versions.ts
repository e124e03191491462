/** Which objects a FinalizerRule is about, and whether they can be seen in the version that it names. */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { CheckContext } from './invariant.ts';
import { dig, listOf, textOf } from './reading.ts';

const definitionOf = (rule: KubernetesObject, objects: CheckContext['objects']): KubernetesObject | undefined =>
  objects('customresourcedefinitions.apiextensions.k8s.io').find(
    ({ spec }) =>
      dig(spec, 'group') === dig(rule, 'spec', 'group') && dig(spec, 'names', 'kind') === dig(rule, 'spec', 'kind'),
  );

/** The plural of its kind: as its definition has it, whatever became of the status of the rule. */
export const pluralOf = (rule: KubernetesObject, objects: CheckContext['objects']): string | undefined =>
  textOf(dig(definitionOf(rule, objects), 'spec', 'names', 'plural')) ?? textOf(dig(rule, 'status', 'resource'));

/** Their definition serves other versions only, or none: nobody can do anything about them by this rule. */
export function isNotServed(rule: KubernetesObject, objects: CheckContext['objects']): boolean {
  const definition = definitionOf(rule, objects);
  const served = listOf(dig(definition, 'spec', 'versions')).filter(each => dig(each, 'served') === true);
  return definition !== undefined && !served.some(each => dig(each, 'name') === dig(rule, 'spec', 'version'));
}
