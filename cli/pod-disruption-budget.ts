/** Reads what a PodDisruptionBudget says about evictions now. */
import * as z from '../shared/contract/zod.ts';
import type { KubernetesObject } from '../shared/domain/kubernetes-object.ts';
import { selects, type LabelSelector } from '../shared/domain/label-selector.ts';
import { isFinished, type PodView } from '../shared/domain/pod.ts';
import { labelSelectorSchema } from '../shared/contract/policy-schema.ts';

export interface DisruptionBudget {
  readonly name: string;
  readonly namespace: string;
  /** Absent in a budget that selects nothing. */
  readonly selector: LabelSelector | undefined;
  /** 0 until the controller has counted. */
  readonly disruptionsAllowed: number;
  /** Pods that are not Ready may always be evicted. */
  readonly evictsUnready: boolean;
}

const schema = z.object({
  spec: z.object({ selector: z.optional(labelSelectorSchema), unhealthyPodEvictionPolicy: z.optional(z.string()) }),
  status: z.prefault(z.object({ disruptionsAllowed: z._default(z.number(), 0) }), {}),
});

/** Reads a PodDisruptionBudget; undefined when its shape is not known. */
export function readDisruptionBudget(object: KubernetesObject): DisruptionBudget | undefined {
  const parsed = schema.safeParse(object);
  if (!parsed.success) return undefined;
  const { spec, status } = parsed.data;
  return {
    name: object.metadata.name,
    namespace: object.metadata.namespace ?? '',
    selector: spec.selector,
    disruptionsAllowed: status.disruptionsAllowed,
    evictsUnready: spec.unhealthyPodEvictionPolicy === 'AlwaysAllow',
  };
}

/** The budgets that an eviction of the pod would count against: none for pods that have ended. */
function budgetsOf(pod: PodView, budgets: readonly DisruptionBudget[]): readonly DisruptionBudget[] {
  if (isFinished(pod)) return [];
  return budgets.filter(
    ({ namespace, selector }) => namespace === pod.namespace && selector !== undefined && selects(selector, pod.labels),
  );
}

/** The reason why the API server would refuse to evict the pod now; undefined: it would not refuse. */
export function evictionRefusal(pod: PodView, budgets: readonly DisruptionBudget[]): string | undefined {
  const [budget, ...others] = budgetsOf(pod, budgets);
  if (budget === undefined) return undefined;
  if (others.length > 0) {
    const names = [budget, ...others].map(({ name }) => name).join(', ');
    return `several PodDisruptionBudgets select it (${names}): no eviction is possible`;
  }
  if (budget.disruptionsAllowed > 0 || (budget.evictsUnready && !pod.ready)) return undefined;
  return `PodDisruptionBudget ${budget.name} allows no disruption now`;
}
