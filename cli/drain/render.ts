/** A plan as text. */
import { formatDuration } from '../../shared/domain/go-duration.ts';
import type { DrainPlan, PlannedPod } from './plan.ts';

/** @param verb `is drained` or `would be drained` */
export function renderPlan(plan: DrainPlan, verb: string): readonly string[] {
  const { node, held, custom, timeout, pods } = plan;
  const within = timeout === undefined ? '' : `, complete within ${formatDuration(timeout)}`;
  return [
    `Node ${node} ${verb}: ${summary(pods)}`,
    ...(held === undefined ? [] : [`  held: ${held}`]),
    ...(custom === undefined
      ? []
      : [
          `  ${custom.isServed ? 'asked of' : 'cannot be asked of'} ${custom.kind} ${custom.namespace}/${custom.name}${custom.isServed ? within : `: the API server does not serve ${custom.kind}`}`,
        ]),
    ...renderPods(pods),
  ];
}

/** Each pod with what becomes of it, and what is in the way. */
export function renderPods(pods: readonly PlannedPod[]): readonly string[] {
  return pods.flatMap(({ namespace, name, because, blockers }) => [
    `  ${namespace}/${name}: ${because}`,
    ...blockers.filter(each => each !== because).map(each => `    blocked: ${each}`),
  ]);
}

const WORDS: Readonly<Record<PlannedPod['action'], string>> = {
  evict: 'to evict',
  delete: 'to delete at the deadline',
  await: 'to wait for',
  delegate: 'for the custom drain',
  unknown: 'unknown',
  ignore: 'not waited for',
  leave: 'to stay',
};

/** On one line; `blocked` counts the pods that something holds now. */
export function summary(pods: readonly PlannedPod[]): string {
  const counts = Object.entries(WORDS).flatMap(([action, words]) => {
    const count = pods.filter(pod => pod.action === action).length;
    return count === 0 ? [] : [`${count} ${words}`];
  });
  const blocked = pods.filter(({ blockers }) => blockers.length > 0).length;
  const text = counts.length === 0 ? 'no pods' : counts.join(', ');
  return blocked === 0 ? text : `${text}; ${blocked} blocked`;
}
