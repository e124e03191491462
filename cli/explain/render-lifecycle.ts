/** What becomes of a node, of the nodes of a NodePool or of a policy, as text for people. */
import { renderPlan, summary } from '../drain/render.ts';
import type { DrainExplanation, LifecycleExplanation } from './lifecycle.ts';
import type { EpochMs } from '../../shared/domain/time.ts';
import { instant } from './instant.ts';

/** Lines about one node. */
export function renderLifecycle(explained: LifecycleExplanation, now: EpochMs): readonly string[] {
  const { termination, drain, policies } = explained;
  const since = termination.since === undefined ? '' : `, going on since ${instant(termination.since, now)}`;
  return [
    `repair: ${repairText(explained, now)}`,
    `termination: ${termination.message}${from(termination.source)}${since}`,
    ...drainLines(drain, now),
    `policies: ${policies.length === 0 ? 'no NodeLifecyclePolicy applies' : policies.map(({ name, mode }) => `NodeLifecyclePolicy ${name} (mode ${mode})`).join(', ')}`,
  ];
}

export function repairText({ repair }: LifecycleExplanation, now: EpochMs): string {
  const { kind, message, dueTime, source, mode } = repair;
  const due = dueTime === undefined ? '' : `${dueTime > now ? 'due' : 'due since'} ${instant(dueTime, now)}: `;
  const observe = mode === 'Observe' && kind !== 'ignore' ? '; mode Observe: it is said, not done' : '';
  return `${due}${message}${from(source)}${observe}`;
}

function drainLines({ cordonedBy, requested, state, underWay }: DrainExplanation, now: EpochMs): readonly string[] {
  const shown = state === undefined ? '' : `, its state is ${state}`;
  const cordon = cordonedBy === undefined ? 'none has cordoned the node' : `drain ${cordonedBy} has cordoned the node`;
  const asked = requested === undefined ? '' : `, drain ${requested} is asked for on the node`;
  if (underWay === undefined) return [`drain: ${cordon}${asked}${shown}`];
  const { id, since, plan } = underWay;
  const [, ...details] = renderPlan(plan, '');
  const head = `drain: ${id} is under way, asked for ${instant(since, now)}: ${plan.held ?? summary(plan.pods)}`;
  return [head, ...details];
}

const from = (source: string | undefined): string => (source === undefined ? '' : `, by ${source}`);
