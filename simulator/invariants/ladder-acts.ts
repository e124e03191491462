/** The actions of `repair.actions`, told from the calls that repair makes: a reboot, a drain, a custom resource, a termination. */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { PortCall, Run } from './invariant.ts';
import type { Mirror } from './mirror.ts';
import { annotationOf, dig, listOf, textOf } from './reading.ts';
import { isKubernetes, isTermination, targetOf } from './run-journal.ts';

const REPAIR_ANNOTATION = 'curfew.dev/repair';
export const REPLACES_ANNOTATION = 'curfew.dev/replaces';

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

/** The node that the call acts on, if it does. */
export function actOf(call: PortCall, mirror: Mirror): ActSeen | undefined {
  const asked = askedOf(call, mirror);
  if (asked === undefined) return undefined;
  const node = [...mirror.all('nodes').values()].find(asked.isMeant);
  return node === undefined ? undefined : { kind: asked.kind, id: asked.id, node };
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

/** The nodes whose reboot a record names before the call. */
export function rebootsIntended(call: PortCall, mirror: Mirror): readonly KubernetesObject[] {
  if (call.port !== 'records' || call.method !== 'put') return [];
  const attempt = dig(call.args[0], 'state', 'attempt');
  if (dig(attempt, 'action') !== 'Reboot' || dig(attempt, 'phase') !== 'intended') return [];
  const id = textOf(dig(call.args[0], 'id'));
  return [...mirror.all('nodes').values()].filter(({ metadata }) => id === `node/${metadata.uid}`);
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

const isReplacement = (name: string, mirror: Mirror): boolean =>
  [...mirror.all('nodeclaims').values()].some(
    claim => claim.metadata.name === name && annotationOf(claim, REPLACES_ANNOTATION) !== undefined,
  );

interface Asked extends Omit<ActSeen, 'node'> {
  readonly isMeant: (node: KubernetesObject) => boolean;
}

/** What a call asks for; undefined for a call that acts on no node, as nearly all of them do. */
function askedOf(call: PortCall, mirror: Mirror): Asked | undefined {
  if (call.port === 'instances' && call.method === 'reboot') {
    const id = String(call.args[0]);
    return { kind: 'Reboot', id, isMeant: ({ spec }) => dig(spec, 'providerID') === id };
  }
  if (call.port === 'instances' && call.method === 'terminateInAutoScalingGroup') {
    const id = String(call.args[0]);
    return { kind: 'Terminate', id, isMeant: ({ spec }) => dig(spec, 'providerID') === id };
  }
  if (call.port === 'bus' && call.method === 'publish') {
    const request = listOf(call.args[0]).find(entry => dig(entry, 'detailType') === 'DrainRequested');
    if (request === undefined) return undefined;
    const uid = dig(request, 'detail', 'node', 'uid');
    return { kind: 'Drain', id: String(dig(request, 'detail', 'id')), isMeant: ({ metadata }) => metadata.uid === uid };
  }
  if (isTermination(call)) {
    const { name = '' } = targetOf(call);
    // A replacement that is not needed goes for no incident of its own.
    if (isReplacement(name, mirror)) return undefined;
    const claim = [...mirror.all('nodeclaims').values()].find(({ metadata }) => metadata.name === name);
    const instance = textOf(dig(claim, 'status', 'providerID'));
    return {
      kind: 'Terminate',
      id: name,
      isMeant: ({ spec }) => instance !== undefined && dig(spec, 'providerID') === instance,
    };
  }
  if (!isKubernetes(call, 'create')) return undefined;
  const replaces = textOf(dig(call.args[1], 'metadata', 'annotations', REPLACES_ANNOTATION));
  if (replaces !== undefined) {
    const name = textOf(dig(call.args[1], 'metadata', 'name')) ?? '';
    return { kind: 'Replace', id: name, isMeant: ({ metadata }) => metadata.uid === replaces };
  }
  const id = textOf(dig(call.args[1], 'metadata', 'annotations', REPAIR_ANNOTATION));
  if (id === undefined) return undefined;
  return { kind: 'CustomResource', id, isMeant: ({ metadata }) => id.startsWith(`${metadata.uid}.`) };
}
