/** A plan as text. */
import { formatDuration } from '../../shared/domain/go-duration.ts';
import { toTimestamp } from '../../shared/domain/time.ts';
import type { DrainPlan, PlannedDeadline, PlannedPod } from './plan.ts';

/** @param verb `is drained` or `would be drained` */
export function renderPlan(plan: DrainPlan, verb: string): readonly string[] {
  const { node, held, custom, timeout, deadline, pods } = plan;
  const within = timeout === undefined ? '' : `, complete within ${formatDuration(timeout)}`;
  return [
    `Node ${node} ${verb}: ${summary(pods)}`,
    ...(held === undefined ? [] : [`  held: ${held}`]),
    ...(custom === undefined
      ? []
      : [
          `  ${custom.isServed ? 'asked of' : 'cannot be asked of'} ${custom.kind} ${custom.namespace}/${custom.name}${custom.isServed ? within : `: the API server does not serve ${custom.kind}`}`,
        ]),
    ...(deadline === undefined ? [] : [`  ${deadlineText(deadline)}`]),
    ...renderPods(pods),
  ];
}

const AT_DEADLINE: Readonly<Record<PlannedDeadline['kind'], string>> = {
  turn: 'ends Failed if its turn does not come in time',
  fail: 'ends Failed unless it is over',
  force: 'has deleted unprotected pods, and ends Failed if others are left',
};

function deadlineText({ time, period, kind }: PlannedDeadline): string {
  const when = time === undefined ? '' : `at ${toTimestamp(time)}, or later by as long as it was held, `;
  return `deadline: ${when}the drain ${AT_DEADLINE[kind]} (drain.deadline ${formatDuration(period)})`;
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
  delete: 'to delete after the time-out',
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
