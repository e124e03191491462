/**
 * Stand-in for the kubelets of a real cluster's nodes: a new Node becomes Ready, a pod that is bound runs, one that is deleted is gone at
 * once.
 */
import { arrayAt, isObject, textAt } from '../../../packages/kube-apiserver/src/json.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import type { JsonObject, KubernetesObject, ObjectRef } from '../../../shared/domain/kubernetes-object.ts';
import { systemClock } from '../../../shared/adapters/system-clock.ts';
import { seconds } from '../../../shared/domain/time.ts';
import { RetryableError } from '../../../shared/errors.ts';
import type { ClusterWatch } from '../../../shared/ports/cluster-watch.ts';
import type { KubernetesApi } from '../../../shared/ports/kubernetes-api.ts';
import { mirrorCluster } from '../end-to-end/remote-cluster.ts';

const RETRY_AFTER = seconds(0.5);

export interface Kubelets {
  /** The first call or watch that failed. */
  failure(): Error | undefined;
  stop(): void;
}

/** @param kubernetes allowed to do everything */
export async function startKubelets(kubernetes: KubernetesApi, watch: ClusterWatch): Promise<Kubelets> {
  const mirror = await mirrorCluster(kubernetes, watch, [RESOURCES.Node, RESOURCES.Pod]);
  let failed: Error | undefined;
  let stopped = false;
  /** Goes on until it is done: every call here may be made twice. */
  const run = (call: () => Promise<unknown>): void =>
    void call().catch(async (error: unknown) => {
      if (stopped) return;
      if (!(error instanceof RetryableError)) failed ??= error instanceof Error ? error : new Error(String(error));
      else await systemClock.sleep(RETRY_AFTER).then(() => run(call));
    });
  const setStatus = (ref: ObjectRef, uid: string, status: JsonObject): void =>
    run(() => kubernetes.patch(ref, { type: 'merge', body: { metadata: { uid }, status } }, { subresource: 'status' }));

  const node = ({ metadata: { name, uid }, status }: KubernetesObject): void => {
    const hasReady = arrayAt(status ?? {}, 'conditions').some(each => isObject(each) && each['type'] === 'Ready');
    if (!hasReady) setStatus({ type: RESOURCES.Node, name }, uid, { phase: 'Running', conditions: [ready()] });
  };
  const pod = ({ metadata, spec, status }: KubernetesObject): void => {
    const { namespace = '', name, uid, deletionTimestamp } = metadata;
    const ref = { type: RESOURCES.Pod, namespace, name };
    if ((textAt(spec ?? {}, 'nodeName') ?? '') === '') return;
    if (deletionTimestamp !== undefined) {
      run(() => kubernetes.delete(ref, { preconditions: { uid }, gracePeriodSeconds: 0 }));
    } else if (textAt(status ?? {}, 'phase') === 'Pending') {
      setStatus(ref, uid, { phase: 'Running', startTime: now(), conditions: [ready()] });
    }
  };
  mirror.api.watch(RESOURCES.Node, {}, event => {
    if (event.type === 'ADDED' || event.type === 'MODIFIED') node(event.object);
  });
  mirror.api.watch(RESOURCES.Pod, {}, event => {
    if (event.type === 'ADDED' || event.type === 'MODIFIED') pod(event.object);
  });
  return {
    failure: () => failed ?? mirror.failure(),
    stop() {
      stopped = true;
      mirror.stop();
    },
  };
}

const now = (): string => new Date().toISOString().replace(/\.\d+Z$/, 'Z');
const ready = (): JsonObject => ({
  type: 'Ready',
  status: 'True',
  lastTransitionTime: now(),
  lastHeartbeatTime: now(),
});
