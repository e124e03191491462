/**
 * Ends of the record of a termination. Each of these closes it, or keeps what somebody will need of it:
 *
 * | function | when | kept |
 * |---|---|---|
 * | `closeFinished` | everything is done | for hooks that were called, and for the instance of a NodeClaim that stays |
 * | `closeUnneeded` | nothing is to be done | for hooks that are or were called |
 * | `closeWithoutFinalizer` | nothing of ours holds the object | for the instance of a NodeClaim that stays |
 * | `closeGone` | the object is gone | while EC2 does not say whether the instance is left behind |
 * | `closeNodeRecord` | a NodeClaim stands for the Node by now | while that one calls the Node's hooks |
 *
 * The Nodes of a NodeClaim that goes before them get what was promised for them (`handOverToNodes`).
 */
import type { FinalizerContext, FinalizerDeps } from '../common/context.ts';
import { getNode } from '../../../shared/cluster/lists.ts';
import { aboutSubject, type Subject } from '../../../shared/contract/subject.ts';
import { subjectOf, type KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { addDuration, minutes, type EpochMs } from '../../../shared/domain/time.ts';
import { EVENT_REASONS } from '../../../shared/contract/reasons.ts';
import { contendedError, type RetryableError } from '../../../shared/errors.ts';
import { isRefused, type Backoff } from '../../../shared/lifecycle/refusals.ts';
import { anotherTurn, type Turn } from '../../../shared/lifecycle/settle.ts';
import { reconcileInstance } from '../orphans/reconcile.ts';
import {
  claimUnderWay,
  HANDED_ON_CHECK,
  hookCallsOf,
  namesHookOwner,
  NODE_RECORD_CHECK,
  ownedHookCalls,
} from './hook-owner.ts';
import { handHooksOn } from './other-claims.ts';
import type { ObservedTermination, TerminationSubject } from './observe.ts';
import { isLive } from './rule/objects.ts';
import type { GoneSubject } from '../../../shared/lifecycle/subject.ts';
import type { SaveOutcome, TimedRecord } from '../../../shared/lifecycle/timed-record.ts';
import { hookOwnerUidOf, openTermination, type TerminationRecord } from './record.ts';
import { withLaterCalls } from './rule/hook-progress.ts';
import { hasBegun } from './rule/turn.ts';

type GoneTermination = GoneSubject<TerminationRecord>;

/**
 * Hands a termination over to the Nodes of a NodeClaim that went before them. Each Node that our finalizer holds is now terminated by itself. It
 * takes over what was promised, so that no hook runs twice and no deadline is lost. NodeClaims of its instance also learn which hooks were
 * called.
 *
 * @returns those that are being deleted
 */
export async function handOverToNodes(
  { deps }: FinalizerContext,
  { value, subject }: GoneTermination,
): Promise<readonly TerminationSubject[]> {
  if (!hasBegun(value) || value.orphanedTime !== undefined) return [];
  const nodesWithFinalizer: KubernetesObject[] = [];
  for (const [uid, { name }] of Object.entries(value.nodes)) {
    const node = await getNode(deps, name);
    if (node?.metadata.uid === uid && hasFinalizerOf(value, node)) nodesWithFinalizer.push(node);
  }
  await handOver(deps, nodesWithFinalizer, value, subject.uid);
  const { providerID } = value;
  if (providerID !== undefined && !(await handHooksOn(deps, value, { providerID, uid: subject.uid }))) {
    throw wroteFirst(`a NodeClaim of ${providerID}`);
  }
  return nodesWithFinalizer
    .filter(node => !isLive(node))
    .map(({ metadata }) => ({ kind: 'Node', name: metadata.name, uid: metadata.uid }));
}

const wroteFirst = (whose: string): RetryableError => contendedError(`another run wrote the record of ${whose}`);

const hasFinalizerOf = (
  { finalizerNames }: TerminationRecord,
  { metadata: { finalizers = [] } }: KubernetesObject,
): boolean => finalizers.some(name => finalizerNames.includes(name));

/**
 * Writes the promises into the records of the Nodes. A Node that calls hooks in a termination of its own keeps its record.
 *
 * @param claimUid of the NodeClaim whose record this is
 */
async function handOver(
  deps: FinalizerDeps,
  nodes: readonly KubernetesObject[],
  begun: TerminationRecord,
  claimUid: string | undefined,
): Promise<void> {
  const hookKeyUid = begun.hookKeyUid ?? claimUid;
  const value: TerminationRecord = { ...begun, ...(hookKeyUid !== undefined && { hookKeyUid }) };
  for (const node of nodes) {
    const { name, uid } = node.metadata;
    const timedRecord = openTermination(deps, 'Node', uid);
    const loaded = await timedRecord.load();
    const isFree = loaded.kind === 'none' || (loaded.kind === 'known' && namesHookOwner(loaded.value, claimUid));
    if (!isFree) continue;
    const wakeTime = addDuration(deps.clock.now(), HANDED_ON_CHECK);
    const noted = loaded.kind === 'known' ? loaded.value.hooks : {};
    const nodeRecord = { ...(isLive(node) ? hookCallsOf(value) : value), hooks: withLaterCalls(value.hooks, noted) };
    const saved = await timedRecord.save({ subject: subjectOf(node), value: nodeRecord, wakeTime });
    if (!saved.written) throw wroteFirst(`Node ${name}`);
  }
}

/**
 * Closes a record when everything is done. If a Node lives on, or somebody else's finalizer keeps the NodeClaim, what they will need is kept:
 * their end continues this termination (I4).
 */
export async function closeFinished(
  deps: FinalizerDeps,
  observed: ObservedTermination,
  value: TerminationRecord,
): Promise<Turn> {
  const { claim, nodes, object, providerID, timedRecord } = observed;
  // A NodeClaim may have come before the last of them went.
  if (providerID !== undefined && !(await handHooksOn(deps, value, { providerID, uid: object.metadata.uid }))) {
    return anotherTurn(`another run wrote the record of a NodeClaim of ${providerID}`);
  }
  if (claim === undefined) return timedRecord.closeNow();
  const { metadata } = claim;
  if (isLive(claim) && Object.keys(value.hooks).length > 0) return closeUnneeded({ ...observed, stored: value });
  if ((metadata.finalizers ?? []).every(name => value.finalizerNames.includes(name))) {
    const nodesWithFinalizer = nodes.filter(node => isLive(node) && hasFinalizerOf(value, node));
    await handOver(deps, nodesWithFinalizer, value, metadata.uid);
    return timedRecord.closeNow();
  }
  return keepUntilGone(timedRecord, { object: claim, value, now: deps.clock.now() });
}

/**
 * Closes the record of an object that needs no termination. A record stays only if hooks were called for the instance of
 * an object that lives on.
 */
export async function closeUnneeded({
  object,
  stored,
  timedRecord,
  now,
}: Pick<ObservedTermination, 'object' | 'stored' | 'timedRecord' | 'now'>): Promise<Turn> {
  if (stored === undefined) return timedRecord.release();
  const hasHooks = Object.keys(stored.hooks).length > 0 || hookOwnerUidOf(stored) !== undefined;
  if (!isLive(object) || !hasHooks) return timedRecord.release();
  // The termination of a NodeClaim that lives was that of its Node, and is over.
  const value = object.kind === 'Node' ? stored : ownedHookCalls(stored, object.metadata.uid);
  return keepForHooks(timedRecord, { subject: subjectOf(object), value, now });
}

const keepForHooks = (
  timedRecord: TimedRecord<TerminationRecord>,
  { subject, value, now }: { readonly subject: Subject; readonly value: TerminationRecord; readonly now: EpochMs },
): Promise<SaveOutcome> =>
  timedRecord.save({ subject, value, wakeTime: addDuration(now, NODE_RECORD_CHECK), hasOwnMessage: false });

/**
 * Closes the record of an object that went while its termination was under way: somebody took our finalizer off. While its instance runs on and
 * no NodeClaim has it, it is a possible orphan, and the ledger of instances takes over. As long as EC2 does not say, the record is kept.
 */
export async function closeGone(
  context: FinalizerContext,
  backoff: Backoff,
  { kind, name, uid }: TerminationSubject,
  gone: GoneTermination,
): Promise<void> {
  const { timedRecord, value } = gone;
  if (!hasBegun(value)) {
    await timedRecord.closeNow();
    return;
  }
  const { providerID, orphanedTime, launchTime } = value;
  const apiVersion = kind === 'Node' ? 'v1' : 'karpenter.sh/v1';
  const object = { apiVersion, kind, name, ...(uid !== undefined && { uid }) };
  const since = orphanedTime ?? context.deps.clock.now();
  const about = aboutSubject(object);
  // The ledger first: a run that dies in between finds the entry there.
  const isOrphan = await backoff.try(
    {
      key: 'LookAtInstance',
      stored: value.refusals,
      restsOn: [providerID],
      report: (text, isRepeated) =>
        context.reporter.report({
          about,
          decision: 'wait',
          reason: EVENT_REASONS.instanceTerminationFailed,
          message: `${kind} ${name} is gone, and whether it has left instance ${providerID} behind cannot be looked at: ${text}`,
          isRepeated,
          event: { type: 'Warning' },
        }),
    },
    async () =>
      providerID !== undefined && reconcileInstance(context, providerID, { origin: { object, since, launchTime } }),
  );
  if (isRefused(isOrphan)) {
    const { until: wakeTime, redeliveryError } = isOrphan;
    const refusals = backoff.refusalsAfter(value.refusals);
    await timedRecord.save({
      subject: gone.subject,
      value: { ...value, ...(refusals && { refusals }) },
      wakeTime,
      redeliveryError,
    });
    return;
  }
  await timedRecord.closeNow();
  if (isOrphan || value.finalizerGone === true) return;
  await context.reporter.report({
    about,
    decision: 'close',
    reason: 'SubjectGone',
    message: `${kind} ${name} is gone, its record is closed`,
  });
}

/**
 * Closes the record of an object that only somebody else's finalizer keeps. The record of a NodeClaim is kept until it goes, for the fate of its
 * instance is known only then; a Node alone ends none. Said first: a run that dies in between says it again (I9).
 */
export async function closeWithoutFinalizer(
  { reporter }: FinalizerContext,
  { object, stored, timedRecord, now }: ObservedTermination,
): Promise<Turn> {
  const { kind, metadata } = object;
  const isKept = kind === 'NodeClaim' && stored?.providerID !== undefined;
  if (stored?.finalizerGone !== true) {
    await reporter.report({
      about: object,
      decision: 'close',
      reason: 'FinalizerGone',
      message: `${kind} ${metadata.name} carries no finalizer of ours any more, ${isKept ? 'its instance is looked at when it goes' : 'its record is closed'}`,
      details: { nodes: Object.values(stored?.nodes ?? {}).map(({ name }) => name) },
    });
  }
  return isKept ? keepUntilGone(timedRecord, { object, value: stored, now }) : timedRecord.closeNow();
}

/** Time after which it is looked at again, should the event that it went be lost (I5). */
const FINALIZER_GONE_CHECK = minutes(5);

const keepUntilGone = (
  timedRecord: TimedRecord<TerminationRecord>,
  {
    object,
    value,
    now,
  }: { readonly object: KubernetesObject; readonly value: TerminationRecord; readonly now: EpochMs },
): Promise<SaveOutcome> =>
  timedRecord.save({
    subject: subjectOf(object),
    value: { ...value, finalizerGone: true },
    wakeTime: addDuration(now, FINALIZER_GONE_CHECK),
  });

/**
 * Closes the record of a Node for which a NodeClaim stands by now, or that is gone. It is kept while that NodeClaim calls the Node's hooks.
 *
 * @param isAlone whether no NodeClaim stands for the Node. It is asked once the record is read: what another run hands over to the Node after
 * that is not closed
 *
 * @returns false: none does, and the record stays
 */
export async function closeNodeRecord(
  deps: FinalizerDeps,
  uid: string | undefined,
  isAlone: () => Promise<boolean>,
): Promise<boolean> {
  if (uid === undefined) return true;
  const timedRecord = openTermination(deps, 'Node', uid);
  const loaded = await timedRecord.load();
  if (loaded.kind !== 'known') return true;
  if (await isAlone()) return false;
  const hookOwnerUid = hookOwnerUidOf(loaded.value);
  if (hookOwnerUid === undefined || (await claimUnderWay(deps, hookOwnerUid)) === undefined) {
    await timedRecord.closeNow();
    return true;
  }
  const { stored, value } = loaded;
  await keepForHooks(timedRecord, { subject: stored.subject, value, now: deps.clock.now() });
  return true;
}
