/**
 * What an act is going to make stands in the attempt before it is reserved: a run that ends between making it and recording it leaves
 * something that the next one knows where to look for (I7).
 */
import { fewAtATime } from '../../../shared/cluster/in-parallel.ts';
import { loadPodsOnNode } from '../../../shared/cluster/protected-pods.ts';
import type { NodeClaimView } from '../../../shared/domain/node-claim.ts';
import { RetryableError, TerminalError } from '../../../shared/errors.ts';
import type { ActionDeps } from '../actions/action.ts';
import { withIntent } from '../actions/custom-resource.ts';
import type { RepairRules } from '../decide.ts';
import { rungsOf } from './attempts.ts';
import type { PassDecision } from './decision.ts';
import type { RepairAttempt } from './pool.ts';
import type { Verdict } from './verdict.ts';

interface Surroundings {
  readonly pool: string | undefined;
  readonly rules: RepairRules;
  readonly claims: readonly NodeClaimView[];
}

/** The decision with the names of the custom resources that its attempts are going to make. */
export async function withIntents(
  deps: ActionDeps,
  decision: PassDecision,
  { pool, rules: { settings }, claims }: Surroundings,
): Promise<PassDecision> {
  if (settings === undefined || 'invalid' in settings) return decision;
  const rungs = rungsOf(settings);
  const named = new Map<RepairAttempt, RepairAttempt>();
  await fewAtATime(decision.verdicts, async verdict => {
    if (verdict.kind !== 'repair') return;
    const { attempt, node, message } = verdict;
    const template = attempt.action === 'CustomResource' ? rungs[attempt.rung]?.template : undefined;
    if (template === undefined) return;
    const claim = claims.find(({ uid }) => uid === attempt.claim?.uid);
    const now = deps.clock.now();
    try {
      const pods = await loadPodsOnNode(deps, node.name);
      named.set(attempt, await withIntent({ deps, now, attempt, node, claim, pool, pods, message }, template));
    } catch (error) {
      // The act itself meets the same failure, and makes nothing that is not recorded. What is none of these is a mistake of ours.
      if (!(error instanceof RetryableError || error instanceof TerminalError)) throw error;
    }
  });
  if (named.size === 0) return decision;
  const nameIn = (attempt: RepairAttempt): RepairAttempt => named.get(attempt) ?? attempt;
  return {
    ...decision,
    verdicts: decision.verdicts.map((verdict): Verdict =>
      verdict.kind === 'repair' ? { ...verdict, attempt: nameIn(verdict.attempt) } : verdict,
    ),
    state: { ...decision.state, attempts: decision.state.attempts.map(nameIn) },
  };
}
