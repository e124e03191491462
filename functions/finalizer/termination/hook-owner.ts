/**
 * Finds the termination in which the hooks of an instance are called: one instance, one call of each (I4). Before the first call, the
 * NodeClaim's UID goes into the records of its Nodes. A Node that finds this UID leaves the hooks to that NodeClaim. Calls found there are
 * continued.
 */
import type { FinalizerDeps } from '../common/context.ts';
import type { Subject } from '../../../shared/contract/subject.ts';
import { subjectOf, type KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { addDuration, hours, minutes } from '../../../shared/domain/time.ts';
import { throwIfNewer } from '../../../shared/lifecycle/record-codec.ts';
import type { TimedRecord } from '../../../shared/lifecycle/timed-record.ts';
import { EMPTY_TERMINATION, hookOwnerUidOf, openTermination, type TerminationRecord } from './record.ts';
import type { StepContext } from './context.ts';
import { type HookOwner, ownerByNode } from './rule/hooks.ts';

/**
 * An object whose record another termination has written is looked at after this long: its own events may have come before.
 */
export const HANDED_ON_CHECK = minutes(1);

/** Time between looks at a Node that lives on, should the event of its end be lost. */
export const NODE_RECORD_CHECK = hours(24);

/** Whether the record of a Node says no more than that its hooks are called in the termination of this NodeClaim. */
export const namesHookOwner = ({ reportState }: TerminationRecord, claimUid: string | undefined): boolean =>
  reportState.kind === 'hookOwner' && reportState.claimUid === claimUid;

/** The NodeClaim with this UID while its termination is under way; undefined: it has ended, or never was. */
export async function claimUnderWay(deps: FinalizerDeps, uid: string): Promise<Subject | undefined> {
  const loaded = await openTermination(deps, 'NodeClaim', uid).load();
  const isUnderWay =
    loaded.kind === 'known' &&
    loaded.value.reportState.kind !== 'hookOwner' &&
    loaded.value.orphanedTime === undefined &&
    loaded.value.finalizerGone !== true;
  return isUnderWay ? loaded.stored.subject : undefined;
}

/** Makes this termination the one that calls the hooks, where none has. Asked before its first call. */
export async function takeHookOwnership(context: StepContext): Promise<HookOwner> {
  const { deps, observed, finalizerNames, settings } = context;
  const { claim, nodes, stored } = observed;
  const { hooks } = context.record();
  if (settings === undefined || settings.hooks.length === 0 || Object.keys(hooks).length > 0) return { kind: 'ours' };
  if (observed.endedWith !== undefined) {
    return { kind: 'underWay', termination: `NodeClaim ${observed.endedWith.name}` };
  }
  if (claim === undefined) {
    return stored === undefined || hookOwnerUidOf(stored) === undefined ? { kind: 'ours' } : { kind: 'over' };
  }
  const terminated = nodes.filter(({ metadata: { finalizers = [] } }) =>
    finalizers.some(name => finalizerNames.includes(name)),
  );
  for (const node of terminated) {
    const { uid, name } = node.metadata;
    const timedRecord = openTermination(deps, 'Node', uid);
    const loaded = throwIfNewer(await timedRecord.load(), `Node ${name}`);
    const value = loaded.kind === 'known' ? loaded.value : EMPTY_TERMINATION;
    const isCalled = Object.keys(value.hooks).length > 0;
    const isReported = value.reportState.kind === 'reported';
    const verdict = ownerByNode({ ownerUid: hookOwnerUidOf(value), isReported, isCalled }, claim.metadata.uid);
    switch (verdict.kind) {
      case 'elsewhere':
        return ownerElsewhere(deps, verdict.ownerUid);
      case 'ofNode':
        return { kind: 'underWay', termination: `Node ${name}` };
      case 'ours': {
        const calls = verdict.goesOn ? { ...hookCallsOf(value), hookKeyUid: value.hookKeyUid ?? uid } : undefined;
        const isNoted =
          !verdict.notes || (await noteClaim(context, claim, { node, timedRecord, value: calls ?? value }));
        if (!isNoted) return { kind: 'changed' };
        if (calls === undefined) break;
        return { kind: (await goOnWith(context, calls)) ? 'ours' : 'changed' };
      }
    }
  }
  return { kind: 'ours' };
}

async function ownerElsewhere(deps: FinalizerDeps, ownerUid: string): Promise<HookOwner> {
  const other = await claimUnderWay(deps, ownerUid);
  return other === undefined ? { kind: 'over' } : { kind: 'underWay', termination: `NodeClaim ${other.name}` };
}

interface AskedNode {
  readonly node: KubernetesObject;
  readonly timedRecord: TimedRecord<TerminationRecord>;
  readonly value: TerminationRecord;
}

/** Notes in the record of a Node in whose termination its hooks are called. @returns whether it was written */
async function noteClaim(
  { observed }: StepContext,
  { metadata: { uid: claimUid } }: KubernetesObject,
  { node, timedRecord, value: stored }: AskedNode,
): Promise<boolean> {
  const value = { ...stored, reportState: { kind: 'hookOwner', claimUid } as const };
  const wakeTime = addDuration(observed.now, NODE_RECORD_CHECK);
  return (await timedRecord.save({ subject: subjectOf(node), value, wakeTime, hasOwnMessage: false })).written;
}

/** Takes over calls that were made when no NodeClaim stood for the Node, or another one did. @returns whether that was written */
function goOnWith(
  context: StepContext,
  { hooks, reportedHookPoints, hookKeyUid }: TerminationRecord,
): Promise<boolean> {
  return context.saveRecord({
    hooks,
    ...(reportedHookPoints !== undefined && { reportedHookPoints }),
    ...(hookKeyUid !== undefined && { hookKeyUid }),
  });
}

/** The record of a NodeClaim that lives, and for whose instance hooks were called. */
export const ownedHookCalls = (value: TerminationRecord, claimUid: string): TerminationRecord => ({
  ...hookCallsOf(value),
  reportState: { kind: 'hookOwner', claimUid },
});

/** The hook calls in a record: all that another termination needs to go on with them. */
export const hookCallsOf = ({
  finalizerNames,
  hooks,
  reportedHookPoints,
  hookKeyUid,
}: TerminationRecord): TerminationRecord => ({
  ...EMPTY_TERMINATION,
  finalizerNames,
  hooks,
  ...(reportedHookPoints !== undefined && { reportedHookPoints }),
  ...(hookKeyUid !== undefined && { hookKeyUid }),
});
