/**
 * What stands around Curfew in a run: kubelets, Karpenter, EC2's view of its instances, and people who do again what a restored etcd has
 * forgotten. It looks at everything a few times a second and does what is missing, so that it needs no memory of the API server's.
 */
import type { LocalAws } from '../../../packages/local-aws/src/stack.ts';
import { arrayAt, isObject, textAt } from '../../../packages/kube-apiserver/src/json.ts';
import { systemClock } from '../../../shared/adapters/system-clock.ts';
import { ANNOTATIONS, KARPENTER } from '../../../shared/contract/names.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import type { JsonObject, KubernetesObject, ResourceType } from '../../../shared/domain/kubernetes-object.ts';
import { seconds, toIsoText, type EpochMs } from '../../../shared/domain/time.ts';
import { RetryableError } from '../../../shared/errors.ts';
import type { KubernetesApi } from '../../../shared/ports/kubernetes-api.ts';
import { objectsIn } from '../../fakes/objects.ts';
import { NOTES, nodeStatus } from './objects.ts';
import type { Deed } from './story.ts';

const LOOK_EVERY = seconds(0.25);

/** All that is there. */
export interface Seen {
  readonly nodes: readonly KubernetesObject[];
  readonly claims: readonly KubernetesObject[];
  readonly pods: readonly KubernetesObject[];
}

export interface Surroundings {
  /** From now on this is what somebody wants, or how a machine is. */
  begin(deed: Deed): void;
  /** Names of Nodes and NodeClaims. */
  readonly wants: Readonly<Record<'drains' | 'withdrawn' | 'ill' | 'deleted', ReadonlySet<string>>>;
  /** What failed for another reason than that the API server was away. */
  readonly failures: readonly string[];
  stop(): Promise<void>;
}

/** @param providerIDs of the instances that run at the begin */
export function startSurroundings(
  kubernetes: KubernetesApi,
  fleet: LocalAws['ec2']['fleet'],
  providerIDs: readonly string[],
): Surroundings {
  const wants = {
    drains: new Set<string>(),
    withdrawn: new Set<string>(),
    ill: new Set<string>(),
    deleted: new Set<string>(),
  };
  const { drains, withdrawn, ill, deleted } = wants;
  const failures: string[] = [];
  /** Since when an instance has ended at the earliest: it was seen running then. */
  const runningUntil = new Map<string, EpochMs>();
  const noted = new Set<string>();
  let requests = 0;

  const patch = (type: ResourceType, { metadata }: KubernetesObject, body: JsonObject, subresource?: 'status') => {
    const { namespace, name, uid } = metadata;
    const ref = { type, name, ...(namespace !== undefined && { namespace }) };
    const meta = isObject(body['metadata']) ? body['metadata'] : {};
    return kubernetes.patch(
      ref,
      { type: 'merge', body: { ...body, metadata: { ...meta, uid } } },
      subresource === undefined ? {} : { subresource },
    );
  };
  const remove = (type: ResourceType, { metadata }: KubernetesObject, gracePeriodSeconds?: number) => {
    const { namespace, name, uid } = metadata;
    return kubernetes.delete(
      { type, name, ...(namespace !== undefined && { namespace }) },
      { preconditions: { uid }, ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }) },
    );
  };
  const stateOf = (providerID: string | undefined) => fleet.look(providerID?.split('/').at(-1) ?? '')?.state;

  /** In the audit log, with the instant until which it ran: an end is told late when the API server is away. */
  async function tellEnds(): Promise<void> {
    for (const providerID of providerIDs) {
      if (stateOf(providerID) === 'terminated' && !noted.has(providerID)) {
        const metadata = { namespace: NOTES, name: `ended-${providerID.split('/').at(-1)}` };
        const data = { providerID, runningUntil: toIsoText(runningUntil.get(providerID) ?? systemClock.now()) };
        await kubernetes.create(RESOURCES.ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data });
        noted.add(providerID);
      }
    }
  }

  async function actAsPeople({ nodes, claims }: Seen): Promise<void> {
    for (const claim of claims) {
      const { name, deletionTimestamp } = claim.metadata;
      if (deleted.has(name) && deletionTimestamp === undefined) await remove(RESOURCES.NodeClaim, claim);
    }
    for (const node of nodes) {
      const { name, annotations = {} } = node.metadata;
      const asked = annotations[ANNOTATIONS.drainRequested];
      const request = (id: string | null) =>
        patch(RESOURCES.Node, node, { metadata: { annotations: { [ANNOTATIONS.drainRequested]: id } } });
      if (drains.has(name) && asked === undefined) await request(`${name}-${(requests += 1)}`);
      if (withdrawn.has(name) && asked !== undefined) await request(null);
    }
  }

  async function actAsKubelets({ nodes, pods }: Seen): Promise<void> {
    for (const node of nodes) {
      const ready = arrayAt(node.status ?? {}, 'conditions').find(each => isObject(each) && each['type'] === 'Ready');
      const status = isObject(ready) ? ready['status'] : undefined;
      const isWell = !ill.has(node.metadata.name);
      if (status !== (isWell ? 'True' : 'False')) {
        await patch(RESOURCES.Node, node, { status: nodeStatus(isWell, systemClock.now()) }, 'status');
      }
    }
    const names = new Set(nodes.map(({ metadata }) => metadata.name));
    for (const pod of pods) {
      const isOrphan = !names.has(textAt(pod.spec ?? {}, 'nodeName') ?? '');
      if (pod.metadata.deletionTimestamp !== undefined || isOrphan) await remove(RESOURCES.Pod, pod, 0);
    }
  }

  /** It ends what is deleted and its own, and deletes what stands for an instance that is gone. */
  async function actAsKarpenter({ nodes, claims, pods }: Seen): Promise<void> {
    for (const claim of claims) {
      const { deletionTimestamp, finalizers = [] } = claim.metadata;
      const providerID = textAt(claim.status ?? {}, 'providerID');
      const isGone = stateOf(providerID) === 'terminated';
      if (deletionTimestamp === undefined) {
        if (isGone) await remove(RESOURCES.NodeClaim, claim);
        continue;
      }
      if (!finalizers.includes(KARPENTER.terminationFinalizer)) continue;
      const own = nodes.filter(node => textAt(node.spec ?? {}, 'providerID') === providerID);
      const left = pods.filter(pod => own.some(({ metadata }) => metadata.name === textAt(pod.spec ?? {}, 'nodeName')));
      for (const pod of left) await remove(RESOURCES.Pod, pod, 0);
      if (!isGone) {
        fleet.terminate([providerID?.split('/').at(-1) ?? '']);
        continue;
      }
      for (const node of own) {
        await remove(RESOURCES.Node, node);
        await takeOff(RESOURCES.Node, node);
      }
      await takeOff(RESOURCES.NodeClaim, claim);
    }
  }
  const takeOff = (type: ResourceType, object: KubernetesObject) => {
    const finalizers = (object.metadata.finalizers ?? []).filter(each => each !== KARPENTER.terminationFinalizer);
    return patch(type, object, { metadata: { finalizers } });
  };

  const stopping = new AbortController();
  const pause = (): Promise<void> => systemClock.sleep(LOOK_EVERY, stopping.signal).catch(() => undefined);
  async function watchInstances(): Promise<void> {
    while (!stopping.signal.aborted) {
      const running = providerIDs.filter(providerID => stateOf(providerID) !== 'terminated');
      for (const providerID of running) runningUntil.set(providerID, systemClock.now());
      await pause();
    }
  }
  async function act(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        const seen = await look(kubernetes);
        await actAsPeople(seen);
        await actAsKubelets(seen);
        await actAsKarpenter(seen);
        await tellEnds();
      } catch (error) {
        if (!(error instanceof RetryableError)) failures.push(String(error));
      }
      await pause();
    }
  }
  const running = Promise.all([watchInstances(), act()]);

  return {
    begin(deed) {
      switch (deed.kind) {
        case 'ill':
          return void ill.add(deed.node);
        case 'recover':
          return void ill.delete(deed.node);
        case 'delete':
          return void deleted.add(deed.claim);
        case 'drain':
          return void drains.add(deed.node);
        case 'withdraw':
          drains.delete(deed.node);
          return void withdrawn.add(deed.node);
      }
    },
    wants,
    failures,
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

export async function look(kubernetes: KubernetesApi): Promise<Seen> {
  const [nodes, claims, pods] = await Promise.all([
    objectsIn(kubernetes, RESOURCES.Node),
    objectsIn(kubernetes, RESOURCES.NodeClaim),
    objectsIn(kubernetes, RESOURCES.Pod),
  ]);
  return { nodes, claims, pods };
}
