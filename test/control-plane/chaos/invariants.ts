/** The invariants of DESIGN that a run must keep, read from the audit log of the API server alone. Pure: no line of it knows Curfew's code. */
import { objectAt, textAt } from '../../../packages/kube-apiserver/src/json.ts';
import { ANNOTATIONS, KARPENTER } from '../../../shared/contract/names.ts';
import { nanosecondsToDuration, parseGoDuration } from '../../../shared/domain/go-duration.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { addDuration, parseTimestamp, toIsoText, type DurationMs, type EpochMs } from '../../../shared/domain/time.ts';
import type { AuditedRequest } from '../end-to-end/audit-log.ts';
import { annotationOf, followAuditLog, isTerminating, isIll, textIn, type World, type Write } from './audited-world.ts';

/** Between the look and the act: as long as one request may take. */
const RACE_MS = 10_000;
const OF_NODES = ['nodes', 'nodeclaims'];
const DESTROYS = ['delete', 'evict'];

type Check = (write: Write, world: World) => string | undefined;

/** What is wrong, each with its instant; nothing in a run that kept all. @param partOf the part of Curfew behind a user */
export function checkAuditLog(
  requests: readonly AuditedRequest[],
  partOf: (user: string) => string | undefined,
): readonly string[] {
  const problems: string[] = [];
  const checks = [
    checkRelease,
    checkProtection,
    checkRepair,
    checkDrain,
    checkTermination,
    checkQuiet,
    createRepeats(),
  ];
  const asked = (node: KubernetesObject): boolean => (annotationOf(node, ANNOTATIONS.drainRequested) ?? '') !== '';
  const standing = new Map<string, KubernetesObject>();
  const claims = new Map<string, string>();
  const world = followAuditLog(requests, partOf, asked, (write, known) => {
    if (write.resource === 'nodeclaims' && write.after !== undefined) {
      claims.set(write.after.metadata.uid, textIn(write.after, 'status', 'providerID'));
    }
    const { rollCall } = known.notes;
    if (rollCall !== undefined && write.received >= rollCall && write.after !== undefined) {
      standing.set(write.after.metadata.uid, write.after);
    }
    if (write.by === undefined) return;
    const said = checks.flatMap(check => check(write, known) ?? []);
    problems.push(...said.map(each => `${toIsoText(write.received)} ${write.by} ${describe(write)}: ${each}`));
  });
  return [...problems, ...checkEnd([...standing.values()], claims, world)];
}

const describe = ({ verb, resource, namespace, name }: Write): string =>
  `${verb} ${resource} ${namespace === undefined ? '' : `${namespace}/`}${name}`;

/** I1: what holds a Node or NodeClaim goes when its instance has ended, and Karpenter's own never goes by our hand. */
const checkRelease: Check = ({ resource, before, after, answered }, { notes }) => {
  if (!OF_NODES.includes(resource) || before === undefined || after === undefined) return undefined;
  const left = new Set(after.metadata.finalizers);
  const taken = (before.metadata.finalizers ?? []).filter(finalizer => !left.has(finalizer));
  if (taken.length === 0) return undefined;
  if (taken.includes(KARPENTER.terminationFinalizer)) return "I1: takes Karpenter's finalizer off";
  const providerID = providerIDOf(before);
  const end = notes.ends.get(providerID);
  return end === undefined || end > answered ? `I1: takes ${taken.join()} off while ${providerID} runs` : undefined;
};

const providerIDOf = (object: KubernetesObject): string =>
  textIn(object, object.kind === 'Node' ? 'spec' : 'status', 'providerID');

/** I2: a pod that is protected is left alone. */
const checkProtection: Check = ({ resource, verb, before, received }) => {
  if (resource !== 'pods' || !DESTROYS.includes(verb) || before === undefined) return undefined;
  const until = protectedUntil(before);
  return until > received ? 'I2: the pod is protected' : undefined;
};

/** 0: it is not. */
function protectedUntil(pod: KubernetesObject): number {
  const value = annotationOf(pod, KARPENTER.doNotDisruptAnnotation);
  if (value === undefined || value === 'true') return value === undefined ? 0 : Infinity;
  const begin = parseTimestamp(textIn(pod, 'status', 'startTime') || pod.metadata.creationTimestamp);
  const asked = parseGoDuration(value);
  return begin === undefined || !asked.ok ? 0 : begin + nanosecondsToDuration(asked.nanoseconds);
}

/** I3: a NodeClaim is deleted when its Node is ill, and has been for as long as the policy tolerates. */
const checkRepair: Check = ({ by, resource, verb, before, received }, world) => {
  if (by !== 'repair' || verb !== 'delete') return undefined;
  if (resource !== 'nodeclaims' || before === undefined)
    return 'I3: repair deletes NodeClaims that are there, nothing else';
  const node = world.objects('nodes').find(each => providerIDOf(each) === providerIDOf(before));
  if (node === undefined) return 'I3: there is no Node that could be ill';
  const due = dueOf(node, world);
  if (due === undefined) return 'I3: the Node is well';
  return due > received ? `I3: the illness is tolerated until ${toIsoText(due)}` : undefined;
};

/** When repair of a Node is due; undefined: it is well. A status that stays while its time moves keeps its first start. */
function dueOf(node: KubernetesObject, world: World): EpochMs | undefined {
  if (!isIll(node)) return undefined;
  const [since, toleration] = [world.illSince(node.metadata.uid), tolerationOf(node, world)];
  return since === undefined || toleration === undefined ? undefined : addDuration(since, toleration);
}

/** By the policies whose selector the labels of the pool match. */
function tolerationOf({ metadata: { labels = {} } }: KubernetesObject, world: World): DurationMs | undefined {
  const pool = world.named('nodepools', labels[KARPENTER.nodePoolLabel] ?? '')?.metadata.labels ?? {};
  for (const { spec = {} } of world.objects('nodelifecyclepolicies')) {
    const wanted = Object.entries(objectAt(objectAt(spec, 'nodePoolSelector'), 'matchLabels'));
    const text = textAt(objectAt(spec, 'repair'), 'defaultTolerationDuration');
    if (text === undefined || !wanted.every(([key, value]) => pool[key] === value)) continue;
    const parsed = parseGoDuration(text);
    if (parsed.ok) return nanosecondsToDuration(parsed.nanoseconds);
  }
  return undefined;
}

/** A drain cordons and empties nodes for which somebody asks, or asked a moment ago. */
const checkDrain: Check = ({ by, resource, verb, before, after, received }, world) => {
  if (by !== 'drain') return undefined;
  const cordons = after?.spec?.['unschedulable'] === true && before?.spec?.['unschedulable'] !== true;
  const node =
    resource === 'pods'
      ? world.named('nodes', textIn(before, 'spec', 'nodeName'))
      : resource === 'nodes' && cordons
        ? before
        : undefined;
  if (resource === 'pods' ? !DESTROYS.includes(verb) : !cordons) return undefined;
  return node !== undefined && world.sinceAsked(node.metadata.uid, received) <= RACE_MS
    ? undefined
    : 'nobody asks for a drain of the node';
};

/** Only what is being deleted is ended, and nobody else than drain and finalizer touches pods. */
const checkTermination: Check = ({ by, resource, verb, before }, world) => {
  if (!DESTROYS.includes(verb)) return undefined;
  if (resource === 'pods' && by !== 'drain' && by !== 'finalizer') return 'this part touches no pods';
  if (by !== 'finalizer' || before === undefined) return undefined;
  const [providerID, name] =
    resource === 'pods'
      ? [undefined, textIn(before, 'spec', 'nodeName')]
      : [providerIDOf(before), before.metadata.name];
  const node = world
    .objects('nodes')
    .find(each => (providerID === undefined ? each.metadata.name === name : providerIDOf(each) === providerID));
  const claim = world
    .objects('nodeclaims')
    .find(each => providerIDOf(each) === (providerID ?? node?.spec?.['providerID']));
  return [node, claim].some(isTerminating) ? undefined : 'neither Node nor NodeClaim is being deleted';
};

/** When all is done, nothing is done again. */
const checkQuiet: Check = ({ resource, received }, { notes: { done } }) =>
  done !== undefined && received >= done && [...OF_NODES, 'pods'].includes(resource) ? 'all is done' : undefined;

/** I4: an object is asked to go once. An etcd that was given an earlier state has forgotten it, and may be told again. */
function createRepeats(): Check {
  const asked = new Map<string, number>();
  return ({ resource, verb, uid, before, received }, { notes: { restores } }) => {
    if (uid === undefined || !DESTROYS.includes(verb)) return undefined;
    const key = `${resource}/${uid}`;
    const [last, life] = [asked.get(key), restores.filter(({ time }) => time <= received).length];
    asked.set(key, life);
    return last === life || (last !== undefined && isTerminating(before)) ? 'I4: it was asked to go before' : undefined;
  };
}

/** I5, I7: nothing is left half done. */
function checkEnd(
  standing: readonly KubernetesObject[],
  claims: ReadonlyMap<string, string>,
  world: World,
): readonly string[] {
  const { notes } = world;
  const end = notes.rollCall;
  if (end === undefined) return ['there was no roll call'];
  const uids = new Set(standing.map(({ metadata }) => metadata.uid));
  const released = [...claims].filter(([uid, providerID]) => !uids.has(uid) && !notes.ends.has(providerID));
  return [
    ...released.map(([, providerID]) => `I1: the NodeClaim of ${providerID} is gone while it runs`),
    ...standing.flatMap(object => {
      const left = leftOn(object, end, world);
      return left.map(each => `${object.kind} ${object.metadata.name}: ${each}`);
    }),
  ];
}

function leftOn(object: KubernetesObject, end: EpochMs, world: World): readonly string[] {
  const left: string[] = [];
  if (isTerminating(object)) left.push(`I5: is still held by ${(object.metadata.finalizers ?? []).join()}`);
  if (object.kind !== 'Node') return left;
  const [request, answer] = [ANNOTATIONS.drainRequested, ANNOTATIONS.drainAnswer].map(key => annotationOf(object, key));
  if (request !== undefined && answer?.includes(JSON.stringify(request)) !== true) {
    left.push('I5: its drain has no answer');
  }
  if (request === undefined && object.spec?.['unschedulable'] === true) left.push('I7: is still cordoned');
  if (annotationOf(object, ANNOTATIONS.drainUnderWay) !== undefined) left.push('I5: is said to be drained');
  const until = parseTimestamp(annotationOf(object, ANNOTATIONS.protectedUntil) ?? '');
  if (until !== undefined && until < end - RACE_MS) left.push('I7: is still marked as protected');
  const due = dueOf(object, world);
  if (due !== undefined && due < end) left.push('I5: is ill and was not repaired');
  return left;
}
