/**
 * The plan of a termination for each pod of its node: when it goes, and what is in its way. By the rules of
 * `functions/finalizer`. Pure.
 */
import { type PodStep, planDrain } from '../../functions/finalizer/explain.ts';
import { forceTime } from '../../shared/domain/forced-deletion.ts';
import type { SkipReason } from '../../shared/domain/drainable-pod.ts';
import { toTimestamp, type EpochMs } from '../../shared/domain/time.ts';
import type { PlannedPod } from '../drain/plan.ts';
import { evictionRefusal } from '../pod-disruption-budget.ts';
import type { NodeObservation } from './observation.ts';

/** @param deadline when everything must be gone; undefined: the termination waits as long as it takes */
export function planTermination(
  { pods, protection, budgets }: NodeObservation,
  deadline: EpochMs | undefined,
  now: EpochMs,
): readonly PlannedPod[] {
  const { steps, skippedPods } = planDrain({ now, pods, deadline, protection: protection.policy });
  const planned = [
    ...steps.map(step => planStep(step, budgets, deadline)),
    ...skippedPods.map(({ pod: { namespace, name }, because }): PlannedPod => {
      const action = because === 'StuckTerminating' ? 'ignore' : 'leave';
      return { namespace, name, action, because: PASSED_OVER[because], time: undefined, blockers: [] };
    }),
  ];
  return planned.toSorted((a, b) => (`${a.namespace}/${a.name}` < `${b.namespace}/${b.name}` ? -1 : 1));
}

function planStep(step: PodStep, budgets: NodeObservation['budgets'], deadline: EpochMs | undefined): PlannedPod {
  const { namespace, name } = step.pod;
  const time = step.kind === 'delete' ? undefined : forceTime(step.pod, deadline);
  const force = time === undefined ? '' : `, by force at ${toTimestamp(time)}`;
  const planned = (action: PlannedPod['action'], because: string, blockers: readonly string[] = []): PlannedPod => ({
    namespace,
    name,
    action,
    because,
    time,
    blockers,
  });
  if (step.kind === 'delete') {
    return planned('delete', `deleted now by force with a grace period of ${step.gracePeriodSeconds} s`);
  }
  if (step.kind === 'evict') {
    const refusal = evictionRefusal(step.pod, budgets);
    const when = refusal === undefined ? 'at once' : 'once that is allowed';
    return planned('evict', `evicted ${when}${force}`, refusal === undefined ? [] : [refusal]);
  }
  const { until } = step;
  switch (step.because) {
    case 'Terminating':
      return planned('await', `is stopping${until === undefined ? '' : `, waited for until ${toTimestamp(until)}`}`);
    case 'LaterGroup':
      return planned('await', `evicted after pods that go before it${force}`);
    case 'Protected': {
      const end = until === undefined ? '' : ` until ${toTimestamp(until)}`;
      return planned('evict', `evicted when its protection ends${force}`, [`protected${end}`]);
    }
  }
}

const PASSED_OVER: Readonly<Record<SkipReason, string>> = {
  Finished: 'stays: it has ended',
  Static: 'stays: its kubelet runs it from a file',
  ToleratesDisruption: 'stays: it tolerates the taint karpenter.sh/disrupted',
  StuckTerminating: 'does not stop: not waited for',
};
