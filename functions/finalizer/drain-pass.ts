/** Carries out one plan of a drain: every eviction and every forced deletion of it, each with its answer. */
import { inParallel } from '../../shared/cluster/in-parallel.ts';
import type { DrainPlan, PodStep } from './drain-plan.ts';
import type { Clock } from '../../shared/ports/clock.ts';
import type { KubernetesApi } from '../../shared/ports/kubernetes-api.ts';
import {
  deletePod,
  evictPod,
  type EvictionAnswer,
  type HeldEvictions,
  type UnansweredPod,
} from '../../shared/pods/eviction.ts';

/** Requests at once: a node has about a hundred pods, and the API server has other clients. */
const AT_ONCE = 10;

type Active<Kind extends PodStep['kind']> = Extract<PodStep, { kind: Kind }>;

export type PodOutcome =
  | { readonly step: Active<'evict'>; readonly answer: EvictionAnswer }
  | { readonly step: Active<'force'>; readonly answer: { readonly kind: 'deleted' | 'gone' } | UnansweredPod };

/** Answers in the order of the plan. A call that fails is the answer for its pod: the others are carried out. */
export async function carryOutDrain(
  deps: { readonly kubernetes: Pick<KubernetesApi, 'evict' | 'delete' | 'patch'>; readonly clock: Pick<Clock, 'now'> },
  { steps }: Pick<DrainPlan, 'steps'>,
  held?: HeldEvictions,
): Promise<readonly PodOutcome[]> {
  const active = steps.filter(step => step.kind !== 'wait');
  const outcomes: PodOutcome[] = [];
  for (let start = 0; start < active.length; start += AT_ONCE) {
    outcomes.push(...(await inParallel(active.slice(start, start + AT_ONCE).map(step => carryOut(deps, step, held)))));
  }
  return outcomes;
}

async function carryOut(
  deps: Parameters<typeof carryOutDrain>[0],
  step: Active<'evict'> | Active<'force'>,
  held: HeldEvictions | undefined,
): Promise<PodOutcome> {
  return step.kind === 'evict'
    ? { step, answer: await evictPod(deps, step.pod, { held }) }
    : { step, answer: await deletePod(deps, step.pod, step.gracePeriodSeconds) };
}
