/** Snapshots of etcd that a scenario goes back to, and what the world around does about the difference: instances do not go back. */
import { addDuration, minutes, seconds, toDurationMs, type EpochMs } from '../shared/domain/time.ts';
import type { KubernetesObject } from '../shared/domain/kubernetes-object.ts';
import type { ApiServerCore, Snapshot } from '../packages/kube-apiserver/src/types.ts';
import type { Scheduler } from '../runtime/scheduler.ts';
import { refOf, RESOURCE_TYPES, textIn, unlessRefused } from './actors/actor.ts';
import type { Cloud } from './cloud.ts';
import { withCondition } from './conditions.ts';
import type { Scenario } from './scenario/scenario.ts';

export interface ClusterBackups {
  /** The API server has what it had at that instant, or at the start of the run. */
  restore(backup: EpochMs): void;
}

export interface BackedUp {
  readonly core: ApiServerCore;
  readonly scheduler: Scheduler;
  readonly cloud: Pick<Cloud, 'stateOf' | 'states' | 'remove'>;
}

/** How long after it kube-controller-manager holds a Node whose kubelet is silent for unreachable. */
const SILENT_FOR = seconds(40);
/** Karpenter compares NodeClaims and instances so often. */
const COLLECTED_AFTER = minutes(2);

/** To be made before the run begins: snapshots are taken at the instants that the scenario goes back to. */
export function createClusterBackups(
  { start, steps, actors }: Pick<Scenario, 'start' | 'steps' | 'actors'>,
  world: BackedUp,
): ClusterBackups {
  const { core, scheduler } = world;
  const snapshots: { readonly time: EpochMs; readonly snapshot: Snapshot }[] = [];
  const take = (): void => void snapshots.push({ time: scheduler.now(), snapshot: core.snapshot() });
  for (const { action, time } of steps) {
    if (action.kind !== 'restore' || action.of !== 'cluster') continue;
    if (snapshots.length === 0) take();
    const backup = addDuration(time, toDurationMs(0 - action.age));
    if (backup > start) scheduler.at(backup, take);
  }
  return {
    restore(backup) {
      const last = snapshots.findLast(({ time }) => time <= backup) ?? snapshots[0];
      if (last === undefined) return;
      core.restore(last.snapshot);
      const after = (delay: typeof SILENT_FOR, action: () => void): void =>
        void scheduler.at(addDuration(scheduler.now(), delay), action);
      if (actors.has('cloud')) after(SILENT_FOR, () => loseSight(world));
      if (actors.has('karpenter')) after(COLLECTED_AFTER, () => collect(world));
    },
  };
}

const nameInstance = (object: KubernetesObject): string | undefined =>
  textIn(object.spec, 'providerID') ?? textIn(object.status, 'providerID');

/** Of a Node or NodeClaim that is back though its instance has ended. */
function isWithoutInstance({ cloud }: BackedUp, object: KubernetesObject): boolean {
  const providerID = nameInstance(object);
  const state = providerID === undefined ? undefined : cloud.stateOf(providerID);
  return state === 'shutting-down' || state === 'terminated';
}

/** No kubelet speaks for the Nodes that are back without an instance. */
function loseSight(world: BackedUp): void {
  const { core, scheduler } = world;
  const unknown = { type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown' } as const;
  for (const node of core.list(RESOURCE_TYPES.nodes).items) {
    if (!isWithoutInstance(world, node)) continue;
    const conditions = withCondition(node, unknown, scheduler.now());
    const body = { metadata: { uid: node.metadata.uid }, status: { conditions } };
    const options = { user: 'actor:node-lifecycle', subresource: 'status' } as const;
    unlessRefused(() => core.patch(refOf(RESOURCE_TYPES.nodes, node), { type: 'merge', body }, options));
  }
}

/** Karpenter ends NodeClaims without an instance, and instances that no object of the cluster names. */
function collect(world: BackedUp): void {
  const { core, cloud } = world;
  const named = new Set<string | undefined>();
  for (const type of [RESOURCE_TYPES.nodes, RESOURCE_TYPES.nodeclaims]) {
    for (const object of core.list(type).items) named.add(nameInstance(object));
  }
  for (const [providerID] of cloud.states()) if (!named.has(providerID)) cloud.remove(providerID);
  for (const claim of core.list(RESOURCE_TYPES.nodeclaims).items) {
    if (claim.metadata.deletionTimestamp !== undefined || !isWithoutInstance(world, claim)) continue;
    const options = { user: 'actor:karpenter', preconditions: { uid: claim.metadata.uid } };
    unlessRefused(() => core.delete(refOf(RESOURCE_TYPES.nodeclaims, claim), options));
  }
}
