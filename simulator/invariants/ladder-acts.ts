/** The actions of `repair.actions`, told from the calls that repair makes: a reboot, a drain, a custom resource, a termination. */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { PortCall, Run } from './invariant.ts';
import type { Mirror } from './mirror.ts';
import { annotationOf, dig, instanceOfClaim, listOf, REPLACES_ANNOTATION, textOf } from './reading.ts';
import { isKubernetes, isTermination, targetOf } from './run-journal.ts';

/** On a custom resource: what repair has asked for it under. */
export const REPAIR_ANNOTATION = 'curfew.dev/repair';

export type ActKind = 'Reboot' | 'Drain' | 'CustomResource' | 'Replace' | 'Terminate';

/** A call that acts on a node. */
export interface ActSeen {
  readonly kind: ActKind;
  /** What it is asked for under, the same at each try. */
  readonly id: string;
  readonly node: KubernetesObject;
}

/** An action, with all tries of it. */
export interface Act extends Omit<ActSeen, 'node'> {
  /** When the run of its first try began. */
  readonly since: number;
  readonly bootID: string | undefined;
  readonly calls: readonly PortCall[];
}

/** A further try of the last action, or the next one. */
export function withAct(
  acts: readonly Act[],
  { kind, id, node }: ActSeen,
  call: PortCall | undefined,
  run: Run,
): readonly Act[] {
  const last = acts.at(-1);
  const calls = call === undefined ? [] : [call];
  const isSame = last?.kind === kind && last.id === id && (kind !== 'Reboot' || isOpen(last));
  if (isSame) return [...acts.slice(0, -1), { ...last, calls: [...last.calls, ...calls] }];
  const bootID = textOf(dig(node, 'status', 'nodeInfo', 'bootID'));
  return [...acts, { kind, id, since: run.startTime, bootID, calls }];
}

/** The reboot is intended alone, or is tried again: the call that follows is the same one. What EC2 refuses gives way to the next action. */
const isOpen = (act: Act): boolean =>
  act.calls.length === 0 || (wasRefused(act) && act.calls.at(-1)?.outcome.kind === 'failed');

/** The node whose reboot a record names before the call. */
export function rebootIntended(call: PortCall, mirror: Mirror): KubernetesObject | undefined {
  if (call.port !== 'records' || call.method !== 'put') return undefined;
  const attempt = dig(call.args[0], 'state', 'attempt');
  if (dig(attempt, 'action') !== 'Reboot' || dig(attempt, 'phase') !== 'intended') return undefined;
  const [kind, uid] = (textOf(dig(call.args[0], 'id')) ?? '').split('/');
  return kind === 'node' ? nodeWith(uid, mirror) : undefined;
}

/** The last try certainly had no effect. */
export function wasRefused({ calls }: Act): boolean {
  const call = calls.at(-1);
  return call !== undefined && hadNoEffect(call);
}

/** The call was refused, or failed before it could do anything. */
function hadNoEffect({ outcome }: PortCall): boolean {
  if (outcome.kind === 'answered') return isRefused(outcome.value);
  return outcome.kind === 'failed' && dig(outcome.error, 'outcomeUnknown') !== true;
}

/** It was accepted for certain. */
export const wasDone = ({ outcome }: PortCall): boolean => outcome.kind === 'answered' && !isRefused(outcome.value);

/** An answer of EC2, of the bus or of the API server that says no. */
export const isRefused = (answer: unknown): boolean =>
  ['notFound', 'refused', 'exists', 'invalid', 'retry', 'rejected'].includes(
    textOf(dig(Array.isArray(answer) ? answer[0] : answer, 'kind')) ?? '',
  );

/** What the call does to a node; undefined for one that acts on no node that is there, as nearly all of them do. */
export function actOf(call: PortCall, mirror: Mirror): ActSeen | undefined {
  if (call.port === 'instances') {
    const kind = ACTS_ON_INSTANCES[call.method];
    const id = String(call.args[0]);
    return kind && seen(kind, id, mirror.ownership().nodesOf(id)[0]);
  }
  if (call.port === 'bus' && call.method === 'publish') {
    const request = listOf(call.args[0]).find(entry => dig(entry, 'detailType') === 'DrainRequested');
    const uid = textOf(dig(request, 'detail', 'node', 'uid'));
    return seen('Drain', String(dig(request, 'detail', 'id')), nodeWith(uid, mirror));
  }
  if (isTermination(call)) {
    const { name = '' } = targetOf(call);
    const claim = mirror.named('nodeclaims', name);
    // A replacement that is not needed goes for no incident of its own.
    if (claim === undefined || annotationOf(claim, REPLACES_ANNOTATION) !== undefined) return undefined;
    return seen('Terminate', name, mirror.ownership().nodesOf(instanceOfClaim(claim) ?? '')[0]);
  }
  if (!isKubernetes(call, 'create')) return undefined;
  const replaces = textOf(dig(call.args[1], 'metadata', 'annotations', REPLACES_ANNOTATION));
  if (replaces !== undefined)
    return seen('Replace', textOf(dig(call.args[1], 'metadata', 'name')) ?? '', nodeWith(replaces, mirror));
  const id = textOf(dig(call.args[1], 'metadata', 'annotations', REPAIR_ANNOTATION));
  return id === undefined ? undefined : seen('CustomResource', id, nodeWith(id.split('.')[0], mirror));
}

const ACTS_ON_INSTANCES: Readonly<Record<string, ActKind>> = {
  reboot: 'Reboot',
  terminateInAutoScalingGroup: 'Terminate',
};

const seen = (kind: ActKind, id: string, node: KubernetesObject | undefined): ActSeen | undefined =>
  node && { kind, id, node };

const nodeWith = (uid: string | undefined, mirror: Mirror): KubernetesObject | undefined =>
  uid === undefined ? undefined : mirror.all('nodes').get(uid);
