/**
 * Reboot: gives the pods the time of the drain bound to leave, cordons the Node and sets the condition of a maintenance, notes itself on
 * Node and NodeClaim, then has EC2 restart the machine. The boot ID of the Node shows that it restarted; the conditions show whether
 * that helped. Pods that are left stay through the reboot. The Node also keeps when it was rebooted last, and how
 * often: that outlives the table.
 */
import {
  type Action,
  type ActionContext,
  callInstance,
  CHANGED,
  type ObjectChanged,
  NOT_PASSING,
  notYet,
} from './action.ts';
import { cancelDrain, requestDrain } from './drain.ts';
import { isMaintained, LAST_REBOOT_ANNOTATION, lastRebootText, MAINTENANCE } from '../node/rule/reboot-marks.ts';
import type { Act } from '../node/record.ts';
import { ANNOTATIONS } from '../../../shared/contract/names.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import type { JsonObject } from '../../../shared/domain/kubernetes-object.ts';
import { OWN_REASON } from '../../../shared/domain/node-drain-conditions.ts';
import type { NodeClaimView } from '../../../shared/domain/node-claim.ts';
import { indexOwners, ownerOf } from '../../../shared/domain/node-owner.ts';
import { CORDONED_BY_REPAIR_ANNOTATION, type NodeView, readConditions, readNode } from '../../../shared/domain/node.ts';
import { isQuarantinedByCordon } from '../../../shared/domain/quarantine.ts';
import { toTimestamp } from '../../../shared/domain/time.ts';
import { RetryableError } from '../../../shared/errors.ts';
import { changeExactly, changeNodeConditions, throwConflict } from '../../../shared/ports/exact-change.ts';
import type { FunctionDeps } from '../../../shared/ports/function-deps.ts';
import { objectOf } from '../../../shared/ports/read-answer.ts';

/** Prepares a reboot whose pods have time: cordons the Node, and asks for its drain. */
export const drainBeforeReboot: Action<'Drain'> = async context => {
  return (await begin(context, {})) ?? requestDrain(context, { allPods: true });
};

export const reboot: Action<'Reboot'> = async context => {
  const obstacle = await prepare(context).catch(notYet);
  return obstacle ?? callInstance(context, (instances, providerID) => instances.reboot(providerID));
};

/** Does all that comes before the call to EC2, which alone may not be repeated. undefined: it is done. */
async function prepare(context: ActionContext<'Reboot'>): Promise<ObjectChanged | undefined> {
  const { acts, attempt, claim, deps, node, now, leftovers } = context;
  // The time of the drain is over.
  if (leftovers?.drain !== undefined) await cancelDrain(deps, { nodeName: node.name, requestId: leftovers.drain });
  if (node.providerID === undefined) return undefined;
  const marks = { [LAST_REBOOT_ANNOTATION]: lastRebootText(acts, now, attempt.bootID) };
  // The Node first: one that has changed calls the reboot off, and the NodeClaim must not tell of it.
  const changed = await begin(context, marks);
  if (changed !== undefined) return changed;
  return claim === undefined || (await mark(deps, claim, marks)) ? undefined : CHANGED;
}

/** Notes the reboot on the NodeClaim, or takes the note off. false: it is gone. */
async function mark(
  { kubernetes }: Pick<FunctionDeps, 'kubernetes'>,
  { name, uid }: NodeClaimView,
  annotations: Readonly<Record<string, string | null>>,
): Promise<boolean> {
  const ref = { type: RESOURCES.NodeClaim, name };
  return (await changeExactly(kubernetes, ref, { uid }, { annotations })).kind === 'ok';
}

/** Cordons the Node in the version that was looked at, and says that it is maintained. undefined: it is done. */
async function begin(
  { deps, node, now }: Pick<ActionContext, 'deps' | 'node' | 'now'>,
  marks: Readonly<Record<string, string>>,
): Promise<ObjectChanged | undefined> {
  const { kubernetes } = deps;
  const ref = { type: RESOURCES.Node, name: node.name };
  // A cordon that somebody sets meanwhile is theirs, and a node that is well meanwhile is not rebooted.
  const isOpen = node.unschedulable !== true;
  // The cordon of a drain is ours as well. Whichever ends last opens the node.
  const isOurs = isOpen || node.annotations[ANNOTATIONS.cordonedByDrain] !== undefined;
  const annotations = { ...marks, ...(isOurs && { [CORDONED_BY_REPAIR_ANNOTATION]: 'true' }) };
  const change = { annotations, ...(isOpen && { spec: { unschedulable: true } }) };
  const outcome = await changeExactly(kubernetes, ref, node, change);
  if (outcome.kind !== 'ok') return CHANGED;
  if (isMaintained(node.conditions)) return undefined;
  // The cordon has changed the version.
  await setMaintenance(kubernetes, { name: node.name, uid: node.uid }, 'True', toTimestamp(now));
  return undefined;
}

/** Writes the condition of a maintenance. @returns the Node as it is known then */
async function setMaintenance(
  kubernetes: FunctionDeps['kubernetes'],
  node: KnownNode,
  status: 'True' | 'False',
  time: string,
): Promise<KnownNode> {
  const condition: JsonObject = {
    type: MAINTENANCE,
    status,
    reason: `${OWN_REASON}Reboot`,
    message: status === 'True' ? 'a repair reboots the machine' : 'the reboot is over',
    lastTransitionTime: time,
  };
  const outcome = await changeNodeConditions(kubernetes, node, [condition]);
  throwConflict(`${MAINTENANCE} of ${node.name}`, outcome);
  return outcome.kind === 'ok' ? outcome.object.metadata : node;
}

const hasRebootMark = ({ annotations }: NodeClaimView): boolean => annotations[LAST_REBOOT_ANNOTATION] !== undefined;

type KnownNode = Pick<NodeView, 'name' | 'uid'> & { readonly resourceVersion?: string };

/**
 * Ends the maintenance of a reboot: our cordon and our condition go, nobody else's.
 * @throws {RetryableError} while a quarantine needs the cordon: to open the Node would end it
 */
export async function endMaintenance(
  { kubernetes, clock }: Pick<FunctionDeps, 'kubernetes' | 'clock'>,
  { name, uid }: Pick<NodeView, 'name' | 'uid'>,
  { acts, claims }: { readonly acts: readonly Act[]; readonly claims: readonly NodeClaimView[] },
): Promise<void> {
  const ref = { type: RESOURCES.Node, name };
  const object = objectOf(await kubernetes.get(ref), { ifNotServed: 'throw' });
  if (object?.metadata.uid !== uid) return;
  const node = readNode(object);
  const { annotations: marks } = node;
  const isMarked = marks[CORDONED_BY_REPAIR_ANNOTATION] !== undefined;
  const isQuarantined = isMarked && isQuarantinedByCordon(marks);
  const isCordoned = isMarked && !isQuarantined;
  // A reboot that was refused does not count.
  const wasRebooted = acts.some(({ action }) => action === 'Reboot');
  const isEmpty = marks[LAST_REBOOT_ANNOTATION] !== undefined && !wasRebooted;
  const owner = ownerOf(node, indexOwners([node], claims));
  // The pass may have read the NodeClaim before the reboot marked it. The Node has the mark as long.
  if (!wasRebooted && owner.kind === 'claim' && (isEmpty || hasRebootMark(owner.claim)))
    await mark({ kubernetes }, owner.claim, { [LAST_REBOOT_ANNOTATION]: null });
  // Before the cordon: an open Node under maintenance is one that somebody has opened.
  const known = isMaintained(readConditions(object.status?.['conditions']))
    ? await setMaintenance(kubernetes, object.metadata, 'False', toTimestamp(clock.now()))
    : object.metadata;
  if (isCordoned || isEmpty) {
    const annotations = {
      ...(isCordoned && { [CORDONED_BY_REPAIR_ANNOTATION]: null }),
      ...(isEmpty && { [LAST_REBOOT_ANNOTATION]: null }),
    };
    // A drain that somebody else has asked for meanwhile needs the cordon.
    const opens = isCordoned && marks[ANNOTATIONS.cordonedByDrain] === undefined;
    const change = { annotations, ...(opens && { spec: { unschedulable: null } }) };
    throwConflict(`opening ${name}`, await changeExactly(kubernetes, ref, known, change));
  }
  if (!isQuarantined) return;
  throw new RetryableError('NVSentinel has the node quarantined', { reason: NOT_PASSING });
}
