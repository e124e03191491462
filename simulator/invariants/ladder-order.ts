/**
 * The ladder of `repair.actions`:
 * - I3 the actions follow each other in their order, none before the time of the one before is over or it has failed; what is left out was
 *   taken in the incident before, is impossible or has no attempt left
 * - I4 none is taken twice in an incident
 * - I6 a reboot is no success before the machine shows another boot ID or its time is over
 */
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { toEpochMs, toIsoText } from '../../shared/domain/time.ts';
import {
  CLOCK_LAG,
  type BusEventSeen,
  type CheckContext,
  type MakeCheck,
  type PortCall,
  type Run,
} from './invariant.ts';
import { actOf, rebootIntended, type ActSeen } from './ladder-acts.ts';
import { createLadderPast, ladderOf, mayHaveBeen, profileIn, type Rung, type Taken } from './ladder-past.ts';
import { repairConditionsOf } from './repair-conditions.ts';
import { dig, LAST_REBOOT, listOf, nameOf, TERMINATION_TIMESTAMP, textOf } from './reading.ts';
import { isPolicyReadable, repairBlockFor } from './policy-oracle.ts';
import { claimOf, poolOf } from './node-pool.ts';
import { answerOf, isKubernetes, lastList, targetOf } from './run-journal.ts';

const DAY = 24 * 3_600_000;
/** What a run that died may have taken off the time of an action before it was tried again; ms. */
const DISTURBED_SLACK = 3 * 60_000;

interface Ladder {
  readonly text: string;
  readonly rungs: readonly Rung[];
}

export const checkLadder: MakeCheck = context => {
  const { mirror, now, quietSince, clockTolerance, memoryOf, violate } = context;
  const past = createLadderPast(context);
  const tolerance = clockTolerance + CLOCK_LAG;
  /** The list that the acts of an incident were taken from, by the UID of the node. */
  const ladders = new Map<string, { readonly text: string; readonly incident: number; readonly isEdited: boolean }>();
  const drainEnds = new Map<string, number>();
  /** Of custom resources. */
  const reads: PortCall[] = [];
  const firstSeen = new Map<string, number>();
  /** UIDs of nodes of which a record names a reboot: a run that dies before its call leaves one that counts. */
  const intended = new Set<string>();
  mirror.follow((resource, uid, object) => {
    if (resource !== 'nodes') return;
    if (object !== undefined) firstSeen.set(uid, firstSeen.get(uid) ?? now());
    else for (const known of [ladders, firstSeen, intended]) known.delete(uid);
  });
  const wasQuiet = (uid: string): boolean => (quietSince() ?? Infinity) <= (firstSeen.get(uid) ?? 0);
  const slackOf = (uid: string): number => (wasQuiet(uid) ? tolerance : DISTURBED_SLACK);
  const hasEnded = (id: string, uid: string, calls: readonly PortCall[]): boolean =>
    [id, uid].some(known => (drainEnds.get(known) ?? -Infinity) >= (calls[0]?.time ?? Infinity));
  const hasFailed = ({ kind, id, calls }: Taken, node: KubernetesObject): boolean =>
    !past.wasTaken({ kind, id, calls }) ||
    calls.some(({ outcome }) => outcome.kind === 'failed' && dig(outcome.error, 'name') === 'TerminalError') ||
    (kind === 'Drain' && hasEnded(id, node.metadata.uid, calls)) ||
    (kind === 'Terminate' && isWithdrawn(id)) ||
    (kind === 'CustomResource' && reads.some(call => saysFailed(call, node.metadata.name)));
  /** Its NodeClaim lives on, and the instant that makes its termination forceful is off again: nothing of it was carried out. */
  const isWithdrawn = (claimName: string): boolean => {
    const claim = mirror.named('nodeclaims', claimName);
    return (
      claim !== undefined &&
      claim.metadata.deletionTimestamp === undefined &&
      claim.metadata.annotations?.[TERMINATION_TIMESTAMP] === undefined
    );
  };
  /** The time of a reboot counts from the call that was accepted, that of another action from the first try. */
  const endOf = ({ kind, calls, timeout }: Taken): number => {
    const first = kind === 'Reboot' ? calls.find(mayHaveBeen) : calls[0];
    return first === undefined || timeout === undefined ? -Infinity : first.time + timeout;
  };

  const judge = ({ kind, node }: ActSeen, { text, rungs }: Ladder): void => {
    const { uid } = node.metadata;
    const patient = past.of(uid);
    const before = patient?.acts ?? [];
    // What the edit of a list leaves of the place of a node is not told from calls.
    const incident = patient?.incident ?? 0;
    const known = ladders.get(uid);
    const isEdited = known?.incident === incident && (known.isEdited || known.text !== text);
    ladders.set(uid, { text, incident, isEdited });
    // Of what the table has forgotten the ladder begins again; how often a machine may be rebooted stands on the Node (`repair-bounds.ts`).
    const isForgotten = before.some(({ calls }) => calls.some(({ time }) => memoryOf(time) !== 'whole'));
    if (isForgotten || isEdited || patient?.isUnclear === true || patient?.wellSince !== undefined) return;
    const complain = (invariant: 'I3' | 'I4', why: string): void =>
      violate(invariant, `repair begins ${kind} of ${nameOf(node)}: ${why}`);
    const here = before.filter(each => each.incident === patient?.incident);
    const taken = here.filter(each => past.wasTaken(each));
    // A drain that was called off was not carried out, nor was a request that the node's recovery ended.
    const isOff = (each: Taken): boolean =>
      (each.kind === 'Drain' && hasFailed(each, node)) ||
      (each.kind === 'CustomResource' && each.isInterrupted === true);
    const sameKind = taken.filter(each => each.kind === kind && !isOff(each)).length;
    const places = rungs.flatMap((rung, index) => (rung.kind === kind ? [index] : []));
    // One that did not become ready is not taken.
    if (kind !== 'Terminate' && kind !== 'Replace' && sameKind >= places.length)
      return complain('I4', `it was taken ${sameKind} times in this incident`);
    const last = taken.at(-1);
    const slack = slackOf(uid);
    if (
      last !== undefined &&
      !isOff(last) &&
      last.kind !== 'Replace' &&
      !hasFailed(last, node) &&
      now() + slack < endOf(last)
    )
      return complain('I3', `${last.kind} has time until ${toIsoText(toEpochMs(endOf(last)))}`);
    // A run that died may have counted as an act.
    if (!wasQuiet(uid)) return;
    const place = places[Math.min(sameKind, places.length - 1)] ?? -1;
    const skipped = rungs
      .slice(0, Math.max(place, 0))
      .filter(rung => !isAccountedFor(rung, here, before))
      .filter(rung => rung.kind !== 'Reboot' || !(intended.has(uid) || wasRebootedBefore(node, before)));
    if (skipped.length === 0) return;
    const names = rungs.map(rung => rung.kind).join(', ');
    complain('I3', `${skipped.map(rung => rung.kind).join(', ')} comes before it in ${names}`);
  };

  /** It was taken or refused in this incident, was taken in one before, has no attempt left, or leaves no trace where it cannot be done. */
  const isAccountedFor = (
    { kind, attempts, within, isOptional }: Rung,
    here: readonly Taken[],
    before: readonly Taken[],
  ): boolean => {
    if (isOptional === true || kind === 'CustomResource' || kind === 'Replace' || here.some(each => each.kind === kind))
      return true;
    const times = before.filter(each => each.kind === kind).flatMap(({ calls }) => calls.find(mayHaveBeen)?.time ?? []);
    if (times.filter(time => time > now() - within).length >= attempts) return true;
    return before.some(
      ({ incident, calls }) => incident !== here[0]?.incident && (calls.at(-1)?.time ?? 0) > now() - DAY,
    );
  };

  /** Its machine was rebooted when it had another Node. */
  const wasRebootedBefore = (node: KubernetesObject, before: readonly Taken[]): boolean =>
    claimOf(node, mirror)?.metadata.annotations?.[LAST_REBOOT] !== undefined &&
    before.every(each => each.kind !== 'Reboot');

  const note = (call: PortCall): void => {
    const rebooted = rebootIntended(call, mirror);
    if (rebooted !== undefined) intended.add(rebooted.metadata.uid);
  };

  const onBusEvent = ({ detailType, detail }: BusEventSeen): void => {
    const id = textOf(dig(detail, 'id'));
    const isCancelled = dig(detail, 'healthEventStatus', 'nodeQuarantined') === 'Cancelled';
    if (detailType !== 'DrainCompleted' && !isCancelled) return;
    // A drain that somebody else has asked for, too, ends under the id of that one.
    for (const known of [id, textOf(dig(detail, 'node', 'uid'))]) if (known !== undefined) drainEnds.set(known, now());
  };

  return {
    onBusEvent,
    onPast(call, run) {
      note(call);
      past.onPast(call, run);
    },
    onCall(call, run) {
      note(call);
      for (const entry of call.port === 'bus' ? listOf(call.args[0]) : [])
        onBusEvent({ detailType: String(dig(entry, 'detailType')), detail: dig(entry, 'detail') });
      if (run.by === 'repair' && isKubernetes(call, 'get') && targetOf(call).resource === 'nodefixes') reads.push(call);
      const act = run.by === 'repair' ? actOf(call, mirror) : undefined;
      if (act === undefined) return;
      const ladder = ladderSeen(act.node, run, context);
      if (ladder !== undefined && !past.isAgain(act)) judge(act, ladder);
      past.onCall(call, run);
    },
    onWrite({ resource, after }) {
      past.onWrite(after);
      if (resource.resource !== 'events' || dig(after, 'reason') !== EVENT_REASONS.nodeRepairSucceeded) return;
      const node = mirror.all('nodes').get(textOf(dig(after, 'involvedObject', 'uid')) ?? '');
      const act = node && past.of(node.metadata.uid)?.acts.at(-1);
      if (node === undefined || act?.kind !== 'Reboot' || act.bootID === undefined) return;
      if (hasFailed(act, node) || now() + slackOf(node.metadata.uid) >= endOf(act)) return;
      if (textOf(dig(node, 'status', 'nodeInfo', 'bootID')) !== act.bootID) return;
      violate('I6', `repair calls the reboot of ${nameOf(node)} a success, and its boot ID is ${act.bootID} still`);
    },
  };
};

/** The ladder that a run saw; undefined when it saw several, or one that cannot be read. */
function ladderSeen(node: KubernetesObject, run: Run, { mirror }: CheckContext): Ladder | undefined {
  const name = poolOf(node, mirror);
  const policies = lastList(run, 'nodelifecyclepolicies') ?? [];
  if (!policies.every(isPolicyReadable)) return undefined;
  const blocks = new Map<string, unknown>();
  for (const call of run.calls) {
    if (!isKubernetes(call, 'get') || call.outcome.kind !== 'answered') continue;
    const { resource, name: asked } = targetOf(call);
    if (resource !== 'nodepools' || asked !== name) continue;
    const block = repairBlockFor(answerOf(call), policies);
    blocks.set(JSON.stringify(block), block);
  }
  const [only, ...others] = [...blocks];
  if (only === undefined || others.length > 0) return undefined;
  const rungs = ladderOf(node, repairConditionsOf(only[1], profileIn(mirror)));
  return rungs && { text: JSON.stringify(rungs), rungs };
}

/** Whether a remediator was read to have given up on the node of that name. */
function saysFailed(call: PortCall, name: string): boolean {
  if (dig(call.args[0], 'name') !== name) return false;
  return listOf(dig(answerOf(call)?.status, 'conditions')).some(
    condition => dig(condition, 'type') === 'Succeeded' && dig(condition, 'status') === 'False',
  );
}
