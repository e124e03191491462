/**
 * Carries out the acts of a pass whose intent was recorded: looks at Node, NodeClaim and settings again, and acts if that
 * is still wanted. Every call carries the UID, so it never reaches another object of that name (I10). A termination
 * needs no read of its NodeClaim: its first write has the listed version as a precondition (ADR 0023).
 */
import type { ActionContext, ActionOutcome, MadeObjects } from './actions/action.ts';
import { createRemediation, endRemediations } from './actions/custom-resource.ts';
import { requestDrain } from './actions/drain.ts';
import { drainBeforeReboot, reboot } from './actions/reboot.ts';
import { launchReplacement } from './actions/replace.ts';
import { terminate } from './actions/terminate.ts';
import { reportNotAnnotated } from './attempt-report.ts';
import type { ActOutcome, ActResult, IntendedAct, PassDeps } from './context.ts';
import { judgeHealth } from './node/rule/health.ts';
import { isBeforeReboot } from './node/rule/ladder.ts';
import { isWithin } from './node/rule/next-action.ts';
import { replacementOf } from './node/rule/attempt.ts';
import { judgeSecondLook, type SecondLookVerdict } from './node/rule/second-look.ts';
import type { ObservedPool } from './observe.ts';
import { loadPoolSettings, type PoolSettings } from './pool-settings.ts';
import { fewAtATime, inParallel } from '../../shared/cluster/in-parallel.ts';
import { getNodeClaimView, getNodeView } from '../../shared/cluster/lists.ts';
import { loadPodsOnNode } from '../../shared/cluster/protected-pods.ts';
import type { NodeClaimView } from '../../shared/domain/node-claim.ts';
import { indexOwners, ownerOf } from '../../shared/domain/node-owner.ts';
import type { NodeView } from '../../shared/domain/node.ts';
import type { PodView } from '../../shared/domain/pod.ts';
import type { RefusalCause } from '../../shared/domain/refusal.ts';
import { addDuration, type EpochMs } from '../../shared/domain/time.ts';
import { messageOf, RetryableError, TerminalError } from '../../shared/errors.ts';
import { causeOf } from '../../shared/lifecycle/refusals.ts';

/**
 * Carries out the acts whose intent was recorded.
 * @param isCounted their slots are reserved in the limits of zone and cluster
 */
export async function carryOut(
  deps: PassDeps,
  observed: ObservedPool,
  intended: readonly IntendedAct[],
  isCounted: boolean,
): Promise<readonly ActResult[]> {
  if (intended.length === 0) return [];
  // One read for all acts of this pass; each act awaits it.
  const poolSettings = loadPoolSettings(deps, observed.pool, observed.poolSettings);
  const launches = intended.map(({ granted }) => granted).filter(({ type }) => type === 'Replace');
  const results: ActResult[] = [];
  await fewAtATime(intended, async intendedAct => {
    let made: MadeObjects = {};
    const recordMade: ActionContext['recordMade'] = change => {
      made = change;
    };
    const { granted, record } = intendedAct;
    const launchCapacity = { claims: observed.claims, earlierLaunches: Math.max(0, launches.indexOf(granted)) };
    const { attempt } = granted;
    const listedClaim =
      attempt.action === 'Terminate' && attempt.claim ? observed.claims.get(attempt.claim.uid) : undefined;
    const grantedAct = { ...intendedAct, poolSettings, isCounted, recordMade, launchCapacity };
    try {
      const byListedClaim = listedClaim && (await actOn(deps, observed, grantedAct, listedClaim));
      const outcome = byListedClaim ?? (await actOn(deps, observed, grantedAct)) ?? { kind: 'calledOff' };
      results.push({ granted, record, made, outcome });
    } catch (error) {
      results.push({ granted, record, made, outcome: { kind: 'unknown', error } });
    }
  });
  return results;
}

type GrantedAct = IntendedAct &
  Pick<ActionContext, 'recordMade' | 'launchCapacity'> & {
    readonly poolSettings: Promise<PoolSettings>;
    readonly isCounted: boolean;
  };

/** Node, NodeClaim, pods and settings as they are once the intent of an act is recorded. */
interface SecondLook {
  readonly now: EpochMs;
  readonly poolSettings: PoolSettings;
  readonly node: NodeView;
  readonly claim: NodeClaimView | undefined;
  /** The NodeClaim is the one that the pass has listed, not read again. */
  readonly isClaimListed: boolean;
  readonly pods: readonly PodView[];
}

/**
 * Looks at Node and NodeClaim once more, under the settings as they are by then, and acts.
 *
 * @param listedClaim the NodeClaim as the pass has listed it; without it the NodeClaim is read
 * @returns undefined if the listed NodeClaim does not suffice to decide: the caller calls again without it
 */
async function actOn(
  deps: PassDeps,
  observed: ObservedPool,
  act: GrantedAct,
  listedClaim?: NodeClaimView,
): Promise<ActOutcome | undefined> {
  const { granted, record, recordMade, launchCapacity } = act;
  const { attempt, action, finding } = granted;
  const seen = await lookAgain(deps, act, listedClaim).catch(refusedBeforeAct);
  if ('kind' in seen) return seen;
  const wanted = judgeAgain(deps, observed, act, seen);
  if (wanted === 'readClaim') return undefined;
  if (wanted !== 'act') return { kind: wanted };
  const { leftovers } = record;
  const ended = leftovers?.resources && (await endRemediations(deps, leftovers).catch(refusedBeforeAct));
  if (ended !== undefined && 'cause' in ended) return ended;
  const { now, node, claim, pods } = seen;
  const acts = record.acts.filter(act => isWithin(act, action, now));
  const ofPool = { pool: observed.pool, nodePool: seen.poolSettings.nodePool };
  const { message } = finding.verdict;
  const outcome = await orRefusal(() =>
    perform(act, { deps, now, leftovers, acts, node, claim, ...ofPool, launchCapacity, pods, message, recordMade }),
  );
  switch (outcome.kind) {
    case 'done':
      if (ended?.notAnnotated !== undefined)
        await reportNotAnnotated(deps, observed.origin, finding.node, ended.notAnnotated);
      return {
        kind: 'accepted',
        pods,
        attempt: { ...attempt, until: addDuration(deps.clock.now(), action.timeout) },
        ...(outcome.foundReplacement && { foundReplacement: outcome.foundReplacement }),
      };
    case 'failed':
      return { kind: 'refused', message: outcome.message, reason: outcome.reason, cause: 'request' };
    case 'refused':
      return outcome;
    case 'changed':
      return seen.isClaimListed ? undefined : CALLED_OFF;
    case 'notYet':
      return refused(outcome.on, 'passing');
  }
}

const CALLED_OFF = { kind: 'calledOff' } as const;

/** Reads again what the act is about. `calledOff`: Node or NodeClaim is not there any more. */
async function lookAgain(
  deps: PassDeps,
  { granted: { attempt, finding }, poolSettings: loading }: GrantedAct,
  listedClaim: NodeClaimView | undefined,
): Promise<SecondLook | typeof CALLED_OFF> {
  const { name, uid } = finding.node;
  const [poolSettings, node, claim, pods] = await inParallel([
    loading,
    getNodeView(deps, name),
    listedClaim ?? (attempt.claim && getNodeClaimView(deps, attempt.claim.name)),
    attempt.action === 'Drain' ? [] : loadPodsOnNode(deps, name),
  ]);
  if (node?.uid !== uid || claim?.uid !== attempt.claim?.uid) return CALLED_OFF;
  return { now: deps.clock.now(), poolSettings, node, claim, isClaimListed: listedClaim !== undefined, pods };
}

/** Judges the node again, and says whether the act is still wanted. */
function judgeAgain(
  { decideNode }: PassDeps,
  { dueFacts }: ObservedPool,
  { granted: { attempt, finding }, record, isCounted }: GrantedAct,
  { now, node, claim, isClaimListed, poolSettings: { repair } }: SecondLook,
): SecondLookVerdict {
  const externalRequest = dueFacts?.externalRequests.get(node.name);
  const owner = ownerOf(node, indexOwners([node], claim === undefined ? [] : [claim]));
  const health = judgeHealth(node, { now, repair, record, episodes: record.episodes });
  const own = decideNode({ now, node, owner, repair, health, externalRequest });
  const { confirm } = finding.verdict.entryPolicy;
  const replacement = attempt.action === 'Terminate' ? replacementOf(attempt) : undefined;
  return judgeSecondLook({ key: attempt.key, confirm, replacement }, own, { repair, isClaimListed, isCounted });
}

const refused = (message: string, cause: RefusalCause): Extract<ActOutcome, { kind: 'refused' }> => ({
  kind: 'refused',
  message,
  reason: 'ActionRefused',
  cause,
});

/**
 * The outcome if a call before the act failed: nothing was carried out. Otherwise a reboot, which is never repeated,
 * would count as done.
 */
function refusedBeforeAct(error: unknown): Extract<ActOutcome, { kind: 'refused' }> {
  if (!(error instanceof RetryableError || error instanceof TerminalError)) throw error;
  return refused(messageOf(error), causeOf(error) ?? 'passing');
}

/** Returns a refusal of the API server or EC2 that surely had no effect as an outcome. Any other error is thrown. */
async function orRefusal(
  act: () => Promise<ActionOutcome>,
): Promise<ActionOutcome | Extract<ActOutcome, { kind: 'refused' }>> {
  try {
    return await act();
  } catch (error) {
    const cause = causeOf(error);
    if (cause === undefined || cause === 'passing') throw error;
    return refused(messageOf(error), cause);
  }
}

function perform(act: IntendedAct, context: Omit<ActionContext, 'attempt'>): Promise<ActionOutcome> {
  if ('planned' in act) return createRemediation({ ...context, attempt: act.granted.attempt }, act.planned);
  const { granted } = act;
  switch (granted.type) {
    case 'Terminate':
      return terminate({ ...context, attempt: granted.attempt });
    case 'Reboot':
      return reboot({ ...context, attempt: granted.attempt });
    case 'Drain':
      return (isBeforeReboot(granted.attempt) ? drainBeforeReboot : requestDrain)({
        ...context,
        attempt: granted.attempt,
      });
    case 'Replace':
      return launchReplacement({ ...context, attempt: granted.attempt });
  }
}
