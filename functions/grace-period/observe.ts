/** Input of the grace-period function: a node, its record, its pods and the policy that applies. The same for every look. */
import { POOL_HOLD_ANNOTATION, REPLACES_ANNOTATION } from '../../shared/domain/node.ts';
import { ANNOTATIONS, KARPENTER } from '../../shared/contract/names.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import { inParallel } from '../../shared/cluster/in-parallel.ts';
import { loadPolicySets } from '../../shared/cluster/kept-policies.ts';
import { loadPodsOnNode, loadProtection } from '../../shared/cluster/protected-pods.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { PodView } from '../../shared/domain/pod.ts';
import { DEFAULT_PROTECTION_POLICY } from '../../shared/domain/protection.ts';
import { type EffectiveProtection, PROTECTION } from '../../shared/policies/protection-settings.ts';
import { basisOf, withoutRefusedRead } from '../../shared/lifecycle/refusals.ts';
import { findSubject, type Lookup } from '../../shared/lifecycle/subject.ts';
import type { TimedRecord } from '../../shared/lifecycle/timed-record.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import { type GracePeriodRecord, OWNER } from './record.ts';
import { annotatedPods, type Announcement, withAnnouncements } from './rule/announcements.ts';
import type { GracePeriodObservation } from './decide.ts';

export interface TargetNode {
  readonly name: string;
  readonly uid: string | undefined;
  /** `always`: list the pods of the node; `ifKnown`: only when there is a record or a mark of ours. */
  readonly pods: 'always' | 'ifKnown';
  /** No mark of ours changed: without a record there is nothing to look at. */
  readonly onlyIfKnown?: boolean | undefined;
}

export interface ObservedNode {
  readonly object: KubernetesObject;
  readonly pods: readonly PodView[];
  readonly protection: EffectiveProtection;
  readonly timedRecord: TimedRecord<GracePeriodRecord>;
  readonly stored: GracePeriodRecord | undefined;
  /** Values that a change of the Node rests on. */
  readonly restsOn: readonly unknown[];
  /** Input of the rule. */
  readonly observation: GracePeriodObservation;
}

type Deps = Pick<FunctionDeps, 'kubernetes' | 'records' | 'clock'>;

/** State that a look gets from its run. */
export interface GracePeriodObserverContext {
  /** The record of a Node, by its UID. */
  readonly timedRecordOf: (uid: string) => TimedRecord<GracePeriodRecord>;
  /** Announcements of this run so far, in its record or not. */
  readonly announcements: readonly Announcement[];
}

/** Looks once: reads the Node, its record and, where it may matter, its pods and settings. */
export async function observe(
  deps: Deps,
  { timedRecordOf, announcements }: GracePeriodObserverContext,
  target: TargetNode,
): Promise<Lookup<ObservedNode, GracePeriodRecord>> {
  const found = await findSubject(deps, {
    ref: { type: RESOURCES.Node, name: target.name },
    uid: target.uid,
    onlyIfKnown: target.onlyIfKnown,
    timedRecordOf,
  });
  if (found.kind !== 'here') return found;

  const { object, timedRecord } = found;
  const { uid, name, annotations = {} } = object.metadata;
  const stored = found.loaded.kind === 'known' ? withoutRefusedRead(found.loaded.value) : undefined;
  const known = stored !== undefined || annotations[ANNOTATIONS.protectedUntil] !== undefined;
  if (!known && target.pods === 'ifKnown') return { kind: 'nothing' };
  // After the Node, so that a change of the Node in between is a conflict and not a wrong decision.
  const surroundings = known ? await loadSurroundings(deps, object) : await loadIfAnnotated(deps, object);
  if (surroundings === undefined) return { kind: 'nothing' };
  const { pods, protection } = surroundings;
  const { policy, source, observed: observedProtection } = protection;
  const restsOn = basisValues(object, surroundings);
  const observation: GracePeriodObservation = {
    now: deps.clock.now(),
    node: {
      name,
      uid,
      doNotDisrupt: annotations[KARPENTER.doNotDisruptAnnotation],
      protectedUntil: annotations[ANNOTATIONS.protectedUntil],
      // What its NodePool says stays when repair lets go of it: that is somebody else's.
      isReplacement: annotations[REPLACES_ANNOTATION] !== undefined && annotations[POOL_HOLD_ANNOTATION] === undefined,
    },
    pods,
    policy,
    policyName: source,
    observedProtection,
    record: { ...stored, announcedKeys: withAnnouncements(stored?.announcedKeys ?? {}, announcements) },
    basis: stored?.refusals === undefined ? '' : basisOf(restsOn),
  };
  return { kind: 'here', observation: { object, pods, protection, timedRecord, stored, restsOn, observation } };
}

/** Values that a change of the Node rests on: when any of them differs, a change that was refused is tried at once. */
const basisValues = (object: KubernetesObject, { pods, protection }: Surroundings): readonly unknown[] => [
  object,
  protection,
  pods.map(({ uid, annotations }) => [uid, annotations]),
];

interface Surroundings {
  readonly pods: readonly PodView[];
  readonly protection: EffectiveProtection;
}

async function loadSurroundings(deps: Deps, node: KubernetesObject): Promise<Surroundings> {
  const [pods, protection] = await inParallel([loadPodsOnNode(deps, node.metadata.name), protectionOn(deps, node)]);
  return { pods, protection };
}

/** Reads pods and policy, the policy only if there are annotated pods: most nodes have none. */
async function loadIfAnnotated(deps: Deps, node: KubernetesObject): Promise<Surroundings | undefined> {
  const pods = await loadPodsOnNode(deps, node.metadata.name);
  if (annotatedPods(pods, DEFAULT_PROTECTION_POLICY).length === 0) return undefined;
  return { pods, protection: await protectionOn(deps, node) };
}

function protectionOn(deps: Deps, node: KubernetesObject): Promise<EffectiveProtection> {
  return loadProtection(deps, node, async () => (await loadPolicySets(deps, OWNER, [PROTECTION]))[0]);
}
