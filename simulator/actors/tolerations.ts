/** Whether a pod tolerates a taint, as the scheduler has it; an operator that is not known tolerates nothing. */
import type { JsonObject, KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { arrayAt, isObject, textAt } from '../../packages/kube-apiserver/src/json.ts';

export function tolerates(pod: KubernetesObject, taint: JsonObject): boolean {
  return arrayAt(pod.spec ?? {}, 'tolerations')
    .filter(isObject)
    .some(toleration => {
      const [key, effect] = [textAt(toleration, 'key') ?? '', textAt(toleration, 'effect') ?? ''];
      const operator = textAt(toleration, 'operator') ?? 'Equal';
      const isOf = (key === '' || key === taint['key']) && (effect === '' || effect === taint['effect']);
      if (operator === 'Exists') return isOf;
      return isOf && operator === 'Equal' && key !== '' && (toleration['value'] ?? '') === (taint['value'] ?? '');
    });
}
