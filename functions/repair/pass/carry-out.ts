/**
 * Carries the reserved attempts of a pass out. Each is looked at once more, Node and NodeClaim, under the rules as they are by then;
 * every call carries the UID, so that another object of that name is never reached (I10).
 */
import { inParallel } from '../../../shared/cluster/in-parallel.ts';
import { loadPodsOnNode } from '../../../shared/cluster/protected-pods.ts';
import { KARPENTER } from '../../../shared/contract/names.ts';
import { REPAIR_METRICS } from '../../../shared/contract/metrics.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import { readNodeClaim, type NodeClaimView } from '../../../shared/domain/node-claim.ts';
import { readNode } from '../../../shared/domain/node.ts';
import type { PodView } from '../../../shared/domain/pod.ts';
import { isProtected } from '../../../shared/domain/protection.ts';
import type { EpochMs } from '../../../shared/domain/time.ts';
import { RetryableError } from '../../../shared/errors.ts';
import { holdsPastInstant } from '../decide.ts';
import { loadRules, protectionOf, type PoolRules } from '../observe.ts';
import { indexOwners, ownerOf } from '../owner.ts';
import { reportsOfAct, type Place } from '../report.ts';
import { inBatches } from './batches.ts';
import type { PassObservation } from './decide.ts';
import type { Verdict } from './look.ts';
import type { RepairAttempt } from './pool.ts';
import type { PassDeps } from './deps.ts';

type Granted = Extract<Verdict, { kind: 'repair' }>;

export interface Carried {
  readonly attempt: RepairAttempt;
  readonly outcome:
    | { readonly kind: 'accepted' }
    /** It is not wanted any more; nothing was done. */
    | { readonly kind: 'calledOff'; readonly why: string }
    /** Some call failed: the next pass finds out what happened. */
    | { readonly kind: 'unknown'; readonly error: unknown };
}

interface Context {
  readonly pool: string | undefined;
  readonly place: Place;
  readonly episodes: PassObservation['episodes'];
}

export async function carryOut(
  deps: PassDeps,
  granted: readonly Granted[],
  context: Context,
): Promise<readonly Carried[]> {
  const rules = await loadRules(deps, context.pool);
  const carried: Carried[] = [];
  await inBatches(granted, async verdict => {
    const { attempt } = verdict;
    try {
      carried.push({ attempt, outcome: await carryOutOne(deps, verdict, rules, context) });
    } catch (error) {
      carried.push({ attempt, outcome: { kind: 'unknown', error } });
    }
  });
  return carried;
}

async function carryOutOne(
  deps: PassDeps,
  { attempt, message }: Granted,
  rules: PoolRules,
  { place, episodes }: Context,
): Promise<Carried['outcome']> {
  const [nodeObject, claimObject, pods] = await inParallel([
    deps.kubernetes.get({ type: RESOURCES.Node, name: attempt.node.name }),
    deps.kubernetes.get(claimRef(attempt)),
    loadPodsOnNode(deps, attempt.node.name),
  ]);
  const calledOff = async (why: string): Promise<Carried['outcome']> => {
    // An attempt before this one may have left its annotation.
    await withdraw(deps, attempt);
    return { kind: 'calledOff', why };
  };
  if (nodeObject?.metadata.uid !== attempt.node.uid) return calledOff('the Node is gone');
  if (claimObject?.metadata.uid !== attempt.claim.uid) return calledOff('the NodeClaim is gone');
  const node = readNode(nodeObject);
  const claim = readNodeClaim(claimObject);
  const now = deps.clock.now();
  const owner = ownerOf(node, indexOwners([node], [claim]));
  const decision = deps.decide({ now, node, owner, rules: rules.rules, episodes: episodes.get(node.uid) ?? [] });
  if (decision.kind !== 'due' && decision.kind !== 'finishing') return calledOff(decision.message);
  if (rules.rules.mode === 'Observe') return calledOff('mode is Observe by now');

  // Somebody else terminates it forcefully by now.
  if (decision.kind === 'finishing') return { kind: 'accepted' };
  const conflict = await terminate(deps, attempt, claim, holdsPastInstant(claim, now));
  if (conflict !== undefined) return { kind: 'calledOff', why: conflict };
  const { reports, claimEvent } = reportsOfAct(attempt, message, place, namesOfProtected(pods, rules, now));
  for (const report of reports) await deps.reporter.report(report);
  await deps.events.record(claimEvent);
  deps.metrics.count(REPAIR_METRICS.started, 1, {
    nodePool: place.pool ?? 'none',
    condition: attempt.incident.conditionType,
    action: attempt.action,
  });
  return { kind: 'accepted' };
}

const claimRef = ({ claim: { name } }: RepairAttempt) => ({ type: RESOURCES.NodeClaim, name });

/** The deadline annotation, then the deletion. A NodeClaim that is gone by now is as good as deleted; answers what came in between. */
async function terminate(
  { kubernetes }: PassDeps,
  attempt: RepairAttempt,
  claim: NodeClaimView,
  isForceful: boolean,
): Promise<string | undefined> {
  const { uid } = attempt.claim;
  if (!isForceful) {
    const annotations = { [KARPENTER.terminationTimestampAnnotation]: attempt.terminationTimestamp ?? null };
    const patch = { type: 'merge' as const, body: { metadata: { uid, annotations } } };
    const outcome = await kubernetes.patch(claimRef(attempt), patch);
    if (outcome.kind === 'conflict') return outcome.message;
  }
  if (claim.deletionTime !== undefined) return undefined;
  const outcome = await kubernetes.delete(claimRef(attempt), { preconditions: { uid } });
  return outcome.kind === 'conflict' ? outcome.message : undefined;
}

/** I7: takes back the annotation of an attempt that was not carried out, if it is still ours: what stood there before comes back. */
export async function withdraw({ kubernetes }: Pick<PassDeps, 'kubernetes'>, attempt: RepairAttempt): Promise<void> {
  const { terminationTimestamp, previousTimestamp } = attempt;
  if (terminationTimestamp === undefined) return;
  const claim = await kubernetes.get(claimRef(attempt));
  if (claim?.metadata.uid !== attempt.claim.uid || claim.metadata.deletionTimestamp !== undefined) return;
  const key = KARPENTER.terminationTimestampAnnotation;
  if (claim.metadata.annotations?.[key] !== terminationTimestamp) return;
  const { uid, resourceVersion } = claim.metadata;
  const body = { metadata: { uid, resourceVersion, annotations: { [key]: previousTimestamp ?? null } } };
  const outcome = await kubernetes.patch(claimRef(attempt), { type: 'merge', body });
  if (outcome.kind === 'conflict') throw new RetryableError(`taking back the annotation: ${outcome.message}`);
}

function namesOfProtected(pods: readonly PodView[], rules: PoolRules, now: EpochMs): readonly string[] {
  const { policy } = protectionOf(rules);
  return pods
    .filter(pod => isProtected(pod, now, policy))
    .map(({ namespace, name }) => `${namespace}/${name}`)
    .toSorted();
}
