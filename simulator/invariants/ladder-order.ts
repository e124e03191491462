/**
 * The ladder of `repair.actions`, in clusters drawn by the generator:
 * - I3 the actions follow each other in their order, none before the time of the one before is over or it has failed
 * - I4 a machine is not rebooted again where it is not certain that it was not
 * - I6 a reboot is no success before the machine shows another boot ID or its time is over
 * - I7 nothing of it is left behind: `ladder-left.ts`
 */
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { toEpochMs, toIsoText } from '../../shared/domain/time.ts';
import { CLOCK_LAG, type CheckContext, type MakeCheck, type PortCall, type Run } from './invariant.ts';
import { isOpen, isRefused, wasRefused, type Act, type ActKind } from './ladder-acts.ts';
import { checkLadderLeft } from './ladder-left.ts';
import { createClimbers, DEFAULT_TIMEOUT, type Climb } from './ladder.ts';
import { dig, listOf, millisecondsOf, nameOf, textOf } from './reading.ts';
import { isPolicyReadable, repairBlockFor } from './policy-oracle.ts';
import { poolOf } from './node-pool.ts';
import { answerOf, isKubernetes, lastList, targetOf } from './run-journal.ts';

/** What a run that died may have taken off the time of an action before it was tried again; ms. */
const DISTURBED_SLACK = 3 * 60_000;
/** Of a repair that begins, and of a ladder that was edited so that the action of a node's place is another one. */
const BEFORE_ALL = -1;
/** Rungs that may be left out without a trace: the custom resource could not be made. */
const SKIPPED: readonly ActKind[] = ['CustomResource'];

interface Rung {
  readonly kind: ActKind;
  readonly timeout: number;
}

/** Where a node stands, by the ladder that the run of its last action saw. */
interface Place {
  readonly ladder: string;
  readonly rungs: readonly Rung[];
  readonly rung: number;
}

/** An act that begins. */
interface Begun {
  readonly kind: ActKind;
  readonly node: KubernetesObject;
}

export const checkLadder: MakeCheck = context => {
  const { mirror, now, quietSince, clockTolerance, violate } = context;
  const climbers = createClimbers(context);
  const lookForLeft = checkLadderLeft(context, climbers);
  const tolerance = clockTolerance + CLOCK_LAG;
  const places = new Map<string, Place>();
  const seenSince = new Map<string, number>();
  /** Of custom resources. */
  const reads: PortCall[] = [];
  mirror.follow((resource, uid, object) => {
    if (resource !== 'nodes') return;
    if (object === undefined) seenSince.delete(uid);
    else if (!seenSince.has(uid)) seenSince.set(uid, now());
  });
  const wasQuiet = (uid: string): boolean => (quietSince() ?? Infinity) <= (seenSince.get(uid) ?? 0);
  const endOf = (uid: string, { rungs, rung }: Place, act: Act): number =>
    (wasQuiet(uid) ? act.since : Math.min(act.since - DISTURBED_SLACK, intendedTime(act))) +
    (rungs[rung]?.timeout ?? 0);
  const hasFailed = (act: Act, name: string): boolean => {
    const ended = act.calls.some(({ outcome }) =>
      outcome.kind === 'answered' ? isRefused(outcome.value) : dig(outcome, 'error', 'name') === 'TerminalError',
    );
    if (act.kind === 'Drain') return ended || climbers.drainEnd(act.id) !== undefined;
    return ended || (act.kind === 'CustomResource' && reads.some(call => saysFailed(call, name)));
  };

  const judge = (uid: string, { kind, node }: Begun, climb: Climb | undefined, next: Place): void => {
    const { rungs } = next;
    const complain = (invariant: 'I3' | 'I4', why: string): void =>
      violate(invariant, `repair begins ${kind} of ${nameOf(node)}: ${why}`);
    const last = climb?.acts.at(-1);
    const place = last === undefined ? undefined : places.get(uid);
    if (climb?.isUnclear === true || (last !== undefined && place?.ladder !== next.ladder)) return;
    if (next.rung >= 0) {
      const isOver = last === undefined || place === undefined || now() + tolerance >= endOf(uid, place, last);
      if (isOver || hasFailed(last, node.metadata.name)) return;
      const end = toIsoText(toEpochMs(last.since + (rungs[place.rung]?.timeout ?? 0)));
      return complain('I3', `${last.kind} has time until ${end}`);
    }
    if (last?.kind === kind) {
      if (kind === 'Reboot' && !wasRefused(last)) complain('I4', 'it was asked to reboot already');
      return;
    }
    // A run that died may have counted as a reboot.
    if (!wasQuiet(uid)) return;
    const names = rungs.map(rung => rung.kind).join(', ');
    complain('I3', `after ${last?.kind ?? 'nothing'}, which is not the order of ${names}`);
  };

  return {
    onBusEvent: event => climbers.onBusEvent(event),
    onCall(call, run) {
      if (run.by === 'repair' && isKubernetes(call, 'get') && targetOf(call).resource === 'nodefixes') reads.push(call);
      const act = run.by === 'repair' ? climbers.actOf(call) : undefined;
      const ladder = act && ladderSeen(act.node, run, context);
      if (act === undefined || ladder === undefined) return climbers.onCall(call, run);
      const { uid } = act.node.metadata;
      const climb = climbers.get(uid);
      const last = climb?.acts.at(-1);
      // A repair begins with what is intended: its node's place in an earlier one says nothing.
      const isFirst = climb?.acts.length === 1 && last?.calls.length === 0;
      const place = last === undefined || isFirst ? undefined : places.get(uid);
      const standing = place && last && ladder.rungs[place.rung]?.kind === last.kind ? place.rung : BEFORE_ALL;
      const rung = nextRung(ladder.rungs, act.kind, standing);
      const isAgain = last?.kind === act.kind && (act.kind === 'Reboot' ? isOpen(last) : last.id === act.id);
      if (!isAgain) judge(uid, act, climb, { ...ladder, rung });
      if (!isAgain || place === undefined) {
        places.set(uid, { ...ladder, rung: rung >= 0 ? rung : placeOf(ladder.rungs, act.kind, standing) });
      }
      climbers.onCall(call, run);
    },
    onWrite({ resource, after }) {
      if (resource.resource !== 'events' || dig(after, 'reason') !== EVENT_REASONS.nodeRepairSucceeded) return;
      const uid = textOf(dig(after, 'involvedObject', 'uid')) ?? '';
      const act = climbers.get(uid)?.acts.at(-1);
      const place = places.get(uid);
      const node = mirror.all('nodes').get(uid);
      if (act?.kind !== 'Reboot' || act.bootID === undefined || place === undefined || node === undefined) return;
      if (hasFailed(act, node.metadata.name) || wasRefused(act) || now() + tolerance >= endOf(uid, place, act)) return;
      if (textOf(dig(node, 'status', 'nodeInfo', 'bootID')) !== act.bootID) return;
      violate('I6', `repair calls the reboot of ${nameOf(node)} a success, and its boot ID is ${act.bootID} still`);
    },
    onMinute: lookForLeft,
  };
};

/** The ladder that a run saw; undefined when it saw several, or one that cannot be read. */
function ladderSeen(node: KubernetesObject, run: Run, { mirror }: CheckContext): Omit<Place, 'rung'> | undefined {
  const name = poolOf(node, mirror);
  const policies = lastList(run, 'nodelifecyclepolicies') ?? [];
  if (!policies.every(isPolicyReadable)) return undefined;
  const ladders = new Map<string, unknown>();
  for (const call of run.calls) {
    if (!isKubernetes(call, 'get') || call.outcome.kind !== 'answered') continue;
    const { resource, name: asked } = targetOf(call);
    if (resource !== 'nodepools' || asked !== name) continue;
    const pool = answerOf(call);
    const actions = dig(repairBlockFor(pool, policies), 'actions');
    ladders.set(JSON.stringify(actions), actions);
  }
  const [only, ...others] = [...ladders];
  if (only === undefined || others.length > 0) return undefined;
  const [ladder, actions] = only;
  return {
    ladder,
    rungs: actions === undefined ? [{ kind: 'Terminate', timeout: 0 }] : listOf(actions).flatMap(rungsOf),
  };
}

/** `DrainThenTerminate` is two of them. */
function rungsOf(action: unknown): readonly Rung[] {
  const type = textOf(dig(action, 'type')) ?? '';
  const timeout = millisecondsOf(dig(action, 'timeout')) ?? DEFAULT_TIMEOUT;
  switch (type) {
    case 'DrainThenTerminate':
      return [
        { kind: 'Drain', timeout },
        { kind: 'Terminate', timeout },
      ];
    case 'Reboot':
    case 'CustomResource':
    case 'Terminate':
      return [{ kind: type, timeout }];
    default:
      return [];
  }
}

/** When a drain or custom resource was intended, which its id says: it has the rest of its time if a run died before it asked. */
const intendedTime = ({ id }: Act): number => Number(/\.(\d+)$/.exec(id)?.[1] ?? Infinity);

/** Where the next action of that kind stands if nothing that leaves a trace stands before it; -1: nowhere. */
function nextRung(rungs: readonly Rung[], wanted: ActKind, after: number): number {
  for (const [index, { kind }] of rungs.entries()) {
    if (index <= after) continue;
    if (kind === wanted) return index;
    if (!SKIPPED.includes(kind)) return -1;
  }
  return -1;
}

/** Where it stands although another action should have come before it. */
function placeOf(rungs: readonly Rung[], wanted: ActKind, after: number): number {
  const later = rungs.findIndex(({ kind }, index) => index > after && kind === wanted);
  return later >= 0 ? later : rungs.findIndex(({ kind }) => kind === wanted);
}

/** Whether a remediator was read to have given up on the node of that name. */
function saysFailed(call: PortCall, name: string): boolean {
  if (dig(call.args[0], 'name') !== name) return false;
  return listOf(dig(answerOf(call)?.status, 'conditions')).some(
    condition => dig(condition, 'type') === 'Succeeded' && dig(condition, 'status') === 'False',
  );
}
