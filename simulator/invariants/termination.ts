/**
 * The end of a node under our finalizer, by what each run of the function had seen:
 * - I1 drain → volumes → hooks → instance → release: nothing before what comes before it, but at a deadline
 * - I2 pods go by eviction, class by class, from a Node that is being deleted; a delete is for the deadline
 * - I4 a hook is called after that was noted down, and not again when its answer was
 */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { deadlineOf, providerIDOf } from './deadline.ts';
import { isOurFinalizer } from './finalizers.ts';
import { createHookJournal, type HookJournal } from './hook-journal.ts';
import type { CheckContext, MakeCheck, PortCall, Run } from './invariant.ts';
import { protectionEndOf, protectionInForce, type ProtectionInForce } from './protection-in-force.ts';
import { protectionFactsOf } from './protection-oracle.ts';
import { annotationOf, dig, listOf, nameOf, poolNameOf, textOf } from './reading.ts';
import { does, isKubernetes, lastGet, lastList, lastSeen, seenPod, targetOf } from './run-journal.ts';
import { classOf, countsForDrain, graceOf, isAttachedTo, terminationPlan } from './termination-oracle.ts';

const POINTS = ['before-drain', 'before-terminate', 'after-terminate'] as const;
type Point = (typeof POINTS)[number];

interface Judged extends CheckContext {
  /** UIDs of NodeClaims that were deleted under Karpenter's finalizer, which may be off again. */
  readonly karpenters: ReadonlySet<string>;
  readonly protections: ProtectionInForce;
}

export const checkTermination: MakeCheck = base => {
  const karpenters = new Set<string>();
  base.mirror.follow((resource, uid, object) => {
    const isDeleting = object?.metadata.deletionTimestamp !== undefined;
    const isKarpenters = object?.metadata.finalizers?.includes('karpenter.sh/termination') === true;
    if (resource === 'nodeclaims' && isDeleting && isKarpenters) karpenters.add(uid);
  });
  const context: Judged = { ...base, karpenters, protections: protectionInForce(base).inForce };
  const hooks = createHookJournal(context);
  return {
    onRecord: hooks.onRecord,
    onClusterRestored: hooks.onClusterRestored,
    onCall(call, run) {
      if (run.by !== 'finalizer') return;
      hooks.onCall(call, run);
      if (isKubernetes(call, 'evict', 'delete') && targetOf(call).resource === 'pods') {
        return complainAboutPod(call, run, context, hooks);
      }
      if (call.port === 'instances' && call.method.startsWith('terminate')) {
        const instance = String(call.args[0]);
        const ending = objectsOf(instance, context).filter(isDeleted);
        if (ending.length === 0 && !hasGoneSince(instance, run, context))
          return context.violate('I1', `${run.by} ends ${instance}, of which nothing is deleted`);
        const why = leftToDo(ending, run, 'before-terminate', { context, hooks });
        if (why !== undefined) context.violate('I1', `${run.by} ends instance ${instance} although ${why}`);
        const kept = ending.map(node => protectedPodOn(node, ending, run, context)).find(pod => pod !== undefined);
        if (kept !== undefined)
          context.violate('I2', `${run.by} ends instance ${instance} under ${nameOf(kept)}, which is protected`);
      }
      const released = releasedBy(call, context);
      if (released === undefined) return;
      const why = leftToDo([released], run, 'after-terminate', { context, hooks });
      if (why !== undefined) context.violate('I1', `${run.by} releases ${nameOf(released)} although ${why}`);
    },
  };
};

/** What would die with the instance before its time; also a pod that tolerates every taint, and so is never evicted. */
function protectedPodOn(
  node: KubernetesObject,
  ending: readonly KubernetesObject[],
  run: Run,
  { mirror, now, clockTolerance, instanceState, protections }: Judged,
): KubernetesObject | undefined {
  const instance = providerIDOf(node);
  const state = instance === undefined ? undefined : instanceState(instance);
  // What runs nothing kills nothing.
  if (node.kind !== 'Node' || (state !== 'running' && state !== 'pending')) return undefined;
  if (ending.some(object => (deadlineOf(object, mirror) ?? Infinity) <= now() + clockTolerance)) return undefined;
  const facts = protectionFactsOf(node, mirror);
  return (lastList(run, 'pods') ?? [])
    .filter(pod => dig(pod, 'spec', 'nodeName') === node.metadata.name)
    .filter(pod => annotationOf(pod, 'kubernetes.io/config.mirror') === undefined)
    .find(pod => (protectionEndOf(pod, facts, protections) ?? 0) > now() + clockTolerance);
}

/** Its NodeClaim was being deleted when the run saw it last, and has gone since: EC2 has no precondition that would notice. */
function hasGoneSince(instance: string, run: Run, context: CheckContext): boolean {
  const seen = lastSeen(run, 'nodeclaims');
  return (
    objectsOf(instance, context).length === 0 &&
    seen !== undefined &&
    providerIDOf(seen) === instance &&
    isDeleted(seen)
  );
}

const isDeleted = ({ metadata }: KubernetesObject): boolean => metadata.deletionTimestamp !== undefined;

/** NodeClaims and Nodes of an instance. */
function objectsOf(instance: string, { mirror }: CheckContext): readonly KubernetesObject[] {
  const { claimsOf, nodesOf } = mirror.ownership();
  return [...claimsOf(instance), ...nodesOf(instance)];
}

/** Object that is about to lose our last finalizer. */
function releasedBy(call: PortCall, { mirror }: CheckContext): KubernetesObject | undefined {
  const { resource, name } = targetOf(call);
  if (!isKubernetes(call, 'patch') || (resource !== 'nodes' && resource !== 'nodeclaims')) return undefined;
  const finalizers = dig(call.args[1], 'body', 'metadata', 'finalizers');
  if (finalizers === undefined) return undefined;
  const object = mirror.named(resource, name);
  if (object === undefined || !isDeleted(object)) return undefined;
  const taken = (object.metadata.finalizers ?? []).filter(each => !listOf(finalizers).includes(each));
  const isOurs = (each: unknown): boolean => isOurFinalizer(String(each), mirror);
  return taken.some(isOurs) && !listOf(finalizers).some(isOurs) ? object : undefined;
}

/** Why the objects' end is not at that point yet; undefined when it is, or when a deadline has come. */
function leftToDo(
  objects: readonly KubernetesObject[],
  run: Run,
  until: Point,
  { context, hooks }: { readonly context: Judged; readonly hooks: HookJournal },
): string | undefined {
  const { mirror, now, clockTolerance, instanceState } = context;
  const [first] = objects;
  if (first === undefined) return undefined;
  const instance = providerIDOf(first);
  // The end of one is that of both.
  const ending = instance === undefined ? objects : [...objects, ...objectsOf(instance, context).filter(isDeleted)];
  const isDue = ending.some(object => (deadlineOf(object, mirror) ?? Infinity) <= now() + clockTolerance);
  if (isDue) return undefined;
  for (const hook of planOf(first, run, context)) {
    const isBefore = POINTS.findIndex(point => point === hook.at) <= POINTS.indexOf(until);
    if (isBefore && !hooks.isOver(instance, hook, run)) return `hook ${hook.name} has not done its work`;
  }
  const state = instance === undefined ? undefined : instanceState(instance);
  // Without an instance that runs nothing runs on the Node.
  if (state === undefined || state === 'terminated' || state === 'shutting-down' || state === 'stopped')
    return undefined;
  for (const node of objects.filter(object => object.kind === 'Node')) {
    const pods = lastList(run, 'pods')?.filter(pod => dig(pod, 'spec', 'nodeName') === node.metadata.name);
    if (pods === undefined) return `the run has not looked at the pods of ${nameOf(node)}`;
    const left = pods.find(pod => countsForDrain(pod, now()));
    if (left !== undefined) return `${nameOf(left)} is still on ${nameOf(node)}`;
    const attachment = (lastList(run, 'volumeattachments') ?? []).find(isBlocking(node, run));
    if (attachment !== undefined) return `${nameOf(attachment)} holds a volume at ${nameOf(node)}`;
    if (lastList(run, 'volumeattachments') === undefined) return 'the run has not looked at the volumes';
  }
  return undefined;
}

/** A volume of a pod that stays is not waited for: the run has read its claim. */
const isBlocking =
  (node: KubernetesObject, run: Run) =>
  (attachment: KubernetesObject): boolean => {
    const volume = textOf(dig(attachment, 'spec', 'source', 'persistentVolumeName'));
    if (volume === undefined || !isAttachedTo(attachment, node)) return false;
    const claim = lastGet(run, 'persistentvolumeclaims', object => dig(object, 'spec', 'volumeName') === volume);
    return claim?.object === undefined;
  };

/**
 * The hooks in force that hold something, by what the run saw of pool and policies. Beside Karpenter only what comes after the end holds, and
 * where there never was an instance, or no NodeClaim ends it, nothing is called.
 */
function planOf(object: KubernetesObject, run: Run, context: Judged) {
  const instance = providerIDOf(object);
  if (instance === undefined) return [];
  const seen = lastSeen(run, 'nodeclaims');
  const claims = objectsOf(instance, context).filter(({ kind }) => kind === 'NodeClaim');
  const [claim, ...others] =
    claims.length > 0 || seen === undefined || providerIDOf(seen) !== instance ? claims : [seen];
  if (claim === undefined || others.length > 0) return [];
  const isKarpenters = context.karpenters.has(claim.metadata.uid);
  return hooksInForce(object, run, context).filter(({ at }) => !isKarpenters || at === 'after-terminate');
}

function hooksInForce(object: KubernetesObject, run: Run, { mirror, policiesInForce }: CheckContext) {
  const name = poolNameOf(object);
  const seen = lastGet(run, 'nodepools', ({ metadata }) => metadata.name === name)?.object;
  const pool = seen ?? mirror.named('nodepools', name);
  const policies = lastList(run, 'nodelifecyclepolicies') ?? [...mirror.all('nodelifecyclepolicies').values()];
  const plan = terminationPlan(pool, policiesInForce(policies));
  return plan === 'none' || plan === 'unknown' ? [] : plan.hooks;
}

function complainAboutPod(call: PortCall, run: Run, context: Judged, hooks: HookJournal): void {
  const { mirror, now, clockTolerance, violate } = context;
  const pod = seenPod(call, run);
  if (pod === undefined) return;
  const nodeName = textOf(dig(pod, 'spec', 'nodeName'));
  const node = mirror.named('nodes', nodeName);
  // A Node that went with this run's last look is not judged by its successor.
  if (node === undefined) return;
  const instance = providerIDOf(node);
  const ending = (instance === undefined ? [node] : objectsOf(instance, context)).filter(isDeleted);
  const deadline = Math.min(...ending.map(object => deadlineOf(object, mirror) ?? Infinity));
  const isForced = (each: KubernetesObject): boolean => deadline - graceOf(each) <= now() + clockTolerance;
  // At the deadline of its NodeClaim a Node ends also where its own deletion is refused or late.
  if (!isDeleted(node) && !(call.method === 'delete' && isForced(pod)))
    return violate('I2', `${run.by} ${does(call)} ${nameOf(pod)} from ${nameOf(node)}, which lives`);
  if (call.method === 'delete') {
    const end = instantEnd(pod);
    if (!isForced(pod) && !(end !== undefined && end > deadline)) {
      violate('I2', `${run.by} deletes ${nameOf(pod)} instead of evicting it, although no deadline asks for that`);
    }
    return;
  }
  const earlier = (lastList(run, 'pods') ?? []).find(
    other =>
      dig(other, 'spec', 'nodeName') === nodeName &&
      // The run may have waited for the very instant from which on nobody waits for the other.
      countsForDrain(other, now() + clockTolerance) &&
      !isForced(other) &&
      classOf(other) < classOf(pod),
  );
  if (earlier !== undefined) return violate('I2', `${run.by} evicts ${nameOf(pod)} before ${nameOf(earlier)} is gone`);
  if (deadline <= now() + clockTolerance) return;
  const waiting = planOf(node, run, context).find(
    hook => hook.at === 'before-drain' && !hooks.isOver(instance, hook, run),
  );
  if (waiting !== undefined)
    violate('I1', `${run.by} evicts ${nameOf(pod)} before hook ${waiting.name} has done its work`);
}

/** When a pod that is stopping will be gone. */
function instantEnd({ metadata }: KubernetesObject): number | undefined {
  return metadata.deletionTimestamp === undefined ? undefined : Date.parse(metadata.deletionTimestamp);
}
