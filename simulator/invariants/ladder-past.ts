/**
 * What was done to a node, incident by incident, told from calls and from the raw Node: an incident ends when no rule has been unhealthy for five
 * minutes, or with a reboot that helped. Where it is not certain whether it has ended, nothing is said about it.
 */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { CheckContext, PortCall, Run } from './invariant.ts';
import { actOf, isRefused, REPAIR_ANNOTATION, type ActKind, type ActSeen } from './ladder-acts.ts';
import { poolOf } from './node-pool.ts';
import { repairBlockFor } from './policy-oracle.ts';
import { dig, millisecondsOf, textOf } from './reading.ts';
import type { Mirror } from './mirror.ts';
import { conditionOf } from './unhealthy-conditions.ts';
import { unhealthyConditionsOf, profileOf, repairConditionsOf, type RepairCondition } from './repair-conditions.ts';

const ENDS_AFTER = 5 * 60_000;
/** Between what the cluster shows and what a function has seen of it, by a clock of its own. */
const SLACK = 65_000;
/** A call whose run died takes effect within this time, or never; ms. */
const IN_FLIGHT = 15_000;
/** The timeout of an action without one, and of a termination. */
const DEFAULT_TIMEOUT = 10 * 60_000;
const TERMINATION_TIMEOUT = 60 * 60_000;

/** One action, with all tries of it. */
export interface Taken {
  readonly kind: ActKind;
  /** What the drain or custom resource is asked for under; of another action the instance or the NodeClaim. */
  readonly id: string;
  readonly incident: number;
  /** How long it has, by the list that was in force; undefined: not one thing for certain. */
  readonly timeout: number | undefined;
  readonly bootID: string | undefined;
  readonly calls: readonly PortCall[];
  /** The node was well while it had time. */
  readonly isInterrupted?: true;
}

type Illness = ReadonlyMap<string, unknown>;

interface Patient {
  readonly acts: readonly Taken[];
  readonly incident: number;
  readonly wellSince: number | undefined;
  /** The transition times of the unhealthy conditions that its Node showed last, by type and status. */
  readonly illness: Illness;
  /** It is not certain whether the incident of the last act has ended. */
  readonly isUnclear: boolean;
}

export interface LadderPast {
  /** Notes the act of a call, if it is one. */
  onCall(call: PortCall, run: Run): void;
  /** Notes the act of a call of which no writes are told. */
  onPast(call: PortCall, run: Run): void;
  /** Notes what repair has made. */
  onWrite(after: KubernetesObject | undefined): void;
  /** It was carried out, or nobody can tell. */
  wasTaken(act: Pick<Taken, 'kind' | 'id' | 'calls'>): boolean;
  of(nodeUid: string): Patient | undefined;
  /** Whether the call tries again what the node was last asked for. */
  isAgain(act: ActSeen): boolean;
}

export function createLadderPast({ mirror, now, quietSince }: CheckContext): LadderPast {
  const began = now();
  const patients = new Map<string, Patient>();
  /** Ids of custom resources that were made. */
  const made = new Set<string>();
  const wasTaken: LadderPast['wasTaken'] = ({ kind, id, calls }) =>
    calls.some(call => mayHaveBeen(call) && (kind !== 'CustomResource' || isAnsweredOrOpen(call) || made.has(id)));
  /** It was answered, or may still take effect. */
  const isAnsweredOrOpen = ({ outcome, time }: PortCall): boolean =>
    outcome.kind === 'answered' || now() < time + IN_FLIGHT;
  const illnessOf = (node: KubernetesObject): Illness =>
    new Map(
      unhealthyConditionsOf(node, repairConditionsFor(node)).map(({ type, status }) => [
        `${type}=${status}`,
        conditionOf(node, type)?.['lastTransitionTime'],
      ]),
    );
  const repairConditionsFor = (node: KubernetesObject): readonly RepairCondition[] =>
    repairConditionsOf(blockOf(node), profileIn(mirror));
  const blockOf = (node: KubernetesObject): unknown => {
    const name = poolOf(node, mirror);
    const pool = mirror.named('nodepools', name);
    return repairBlockFor(pool, [...mirror.all('nodelifecyclepolicies').values()]);
  };

  mirror.follow((resource, uid, object) => {
    const patient = resource === 'nodes' ? patients.get(uid) : undefined;
    if (patient === undefined) return;
    if (object === undefined) return void patients.delete(uid);
    patients.set(uid, seen(patient, illnessOf(object), bootOf(object)));
  });

  /** A patient by what its Node shows now. */
  function seen(patient: Patient, illness: Illness, bootID: string | undefined): Patient {
    const { wellSince, incident, isUnclear } = patient;
    const last = patient.acts.at(-1);
    const isIllNow = illness.size > 0;
    if (!isIllNow && wellSince !== undefined) return patient;
    const acts = patient.acts.map(each => interrupted(each, now()));
    if (!isIllNow) return { ...patient, wellSince: now(), acts };
    // Only times have moved, and all of them: it was well in between, and nobody was shown it.
    const wasWell = [...illness].every(
      ([what, time]) => patient.illness.has(what) && patient.illness.get(what) !== time,
    );
    if (wellSince === undefined) return { ...patient, illness, ...(wasWell && { acts }) };
    const again = { ...patient, illness, wellSince: undefined };
    // It may have helped, and a short time in which it was well may not have been seen.
    if (last?.kind === 'Reboot' && last.bootID !== bootID)
      return { ...again, incident: incident + 1, isUnclear: isUnclear || now() - wellSince < SLACK };
    const well = now() - wellSince;
    const isQuiet = (quietSince() ?? Infinity) <= wellSince;
    if (well >= ENDS_AFTER + SLACK) return { ...again, incident: incident + 1, isUnclear: !isQuiet };
    return { ...again, isUnclear: isUnclear || well > ENDS_AFTER - SLACK };
  }

  const isAgain: LadderPast['isAgain'] = ({ kind, id, node }) => {
    const last = patients.get(node.metadata.uid)?.acts.at(-1);
    if (last?.kind !== kind || last.id !== id) return false;
    return kind !== 'Reboot' || !last.calls.some(mayHaveBeen);
  };

  const onWrite: LadderPast['onWrite'] = after => {
    const id = after?.metadata.annotations?.[REPAIR_ANNOTATION];
    if (id !== undefined) made.add(id);
  };
  const note = (call: PortCall, act: ActSeen): void => {
    const { kind, id, node } = act;
    const { uid } = node.metadata;
    const patient = patients.get(uid) ?? NEW_PATIENT;
    const { acts, incident } = patient;
    const last = acts.at(-1);
    if (isAgain(act) && last !== undefined)
      return void patients.set(uid, {
        ...patient,
        acts: [...acts.slice(0, -1), { ...last, calls: [...last.calls, call] }],
      });
    const rungs = (ladderOf(node, repairConditionsFor(node)) ?? []).filter(rung => rung.kind === kind);
    const nth = acts.filter(each => each.incident === incident && each.kind === kind && wasTaken(each)).length;
    // A run that died may have counted as an act.
    const left = rungs.slice(nth).map(rung => rung.timeout);
    // An incident of the same kind goes on at the last action of the one before.
    const goesOn = acts.some(each => each.incident !== incident && each.kind === kind);
    const isCertain = ((quietSince() ?? Infinity) <= began && !goesOn) || rungs.length === 1;
    const timeout = isCertain || left.length === 0 ? (rungs[nth] ?? rungs[0])?.timeout : Math.min(...left);
    const next: Taken = { kind, id, incident, timeout, bootID: bootOf(node), calls: [call] };
    patients.set(uid, { ...patient, illness: illnessOf(node), acts: [...acts, next] });
  };

  return {
    of: uid => patients.get(uid),
    isAgain,
    wasTaken,
    onWrite,
    onCall(call, run) {
      const act = run.by === 'repair' ? actOf(call, mirror) : undefined;
      if (act !== undefined) note(call, act);
    },
    onPast(call, run) {
      const act = run.by === 'repair' ? actOf(call, mirror) : undefined;
      if (act === undefined) return;
      if (mayHaveBeen(call)) made.add(act.id);
      note(call, act);
    },
  };
}

const NEW_PATIENT: Patient = { acts: [], incident: 0, wellSince: undefined, illness: new Map(), isUnclear: false };

const interrupted = (act: Taken, now: number): Taken =>
  now < (act.calls[0]?.time ?? now) + (act.timeout ?? 0) ? { ...act, isInterrupted: true } : act;

const bootOf = (node: KubernetesObject): string | undefined => textOf(dig(node, 'status', 'nodeInfo', 'bootID'));

/** The call was accepted, or nobody can tell. */
export const mayHaveBeen = ({ outcome }: PortCall): boolean => {
  if (outcome.kind === 'answered') return !isRefused(outcome.value);
  return outcome.kind === 'pending' || dig(outcome.error, 'outcomeUnknown') === true;
};

export interface Rung {
  readonly kind: ActKind;
  readonly timeout: number;
  readonly attempts: number;
  readonly within: number;
  /** It follows where the one before has succeeded. */
  readonly isOptional?: true;
}

/** The profile that the configuration in force names. */
export const profileIn = (mirror: Mirror): string | undefined => profileOf(mirror.validConfiguration());

/** The list that holds for what the node is unhealthy with; undefined: one of several, and which one depends on the past. */
export function ladderOf(
  node: KubernetesObject,
  repairConditions: readonly RepairCondition[],
): readonly Rung[] | undefined {
  const lists = new Map(
    unhealthyConditionsOf(node, repairConditions).map(each => [JSON.stringify([each.actions, each.bound]), each]),
  );
  const [[, only] = [], ...others] = [...lists];
  return only === undefined || others.length > 0 ? undefined : rungsOf(only);
}

/**
 * A list; `DrainThenTerminate` is two rungs, and so is a reboot whose pods have time. Of the same type, template and timeout only the first
 * counts. How long that drain has depends on the NodeClaim, too.
 */
export function rungsOf({ actions, bound }: Pick<RepairCondition, 'actions' | 'bound'>): readonly Rung[] {
  if (!Array.isArray(actions)) return [rungOf('Terminate', undefined)];
  const known = new Set<string>();
  return actions.flatMap(action => {
    const type = textOf(dig(action, 'type'));
    const key = JSON.stringify([type, dig(action, 'template'), dig(action, 'timeout')]);
    if (known.has(key)) return [];
    known.add(key);
    if (type === 'ReplaceThenTerminate')
      return [rungOf('Replace', action), { ...rungOf('Terminate', undefined), isOptional: true }];
    if (type === 'DrainThenTerminate') return [rungOf('Drain', action), rungOf('Terminate', undefined)];
    if (type === 'Reboot' && bound !== 0) return [{ ...rungOf('Drain', action), timeout: 0 }, rungOf(type, action)];
    return type === 'Reboot' || type === 'CustomResource' || type === 'Terminate' ? [rungOf(type, action)] : [];
  });
}

function rungOf(kind: ActKind, action: unknown): Rung {
  const fallback = kind === 'Terminate' ? TERMINATION_TIMEOUT : DEFAULT_TIMEOUT;
  const timeout = millisecondsOf(dig(action, 'timeout')) ?? fallback;
  const attempts = kind === 'Terminate' ? Infinity : Number(dig(action, 'attempts') ?? 2);
  return { kind, timeout, attempts, within: millisecondsOf(dig(action, 'within')) ?? 24 * 3_600_000 };
}
