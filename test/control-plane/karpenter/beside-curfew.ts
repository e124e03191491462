/** Karpenter as released with its kwok provider, the whole of Curfew and kubelets, on one real control plane under production's RBAC. */
import { expect, vi } from 'vitest';
import { textAt } from '../../../packages/kube-apiserver/src/json.ts';
import { createMemoryRecordStore } from '../../../runtime/memory/record-store.ts';
import { createRealScheduler } from '../../../runtime/real-scheduler.ts';
import { createSystem } from '../../../runtime/system.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import type { Instances } from '../../../shared/ports/instances.ts';
import { createHttpClient } from '../../contract/api-server/http-client.ts';
import { applyFiles, applyManifest, type Manifest } from '../../contract/api-server/manifests.ts';
import { ADMIN, startCurfewOnCluster, type CurfewOnCluster } from '../end-to-end/curfew-on-cluster.ts';
import { startKubelets, type Kubelets } from './kubelets.ts';
import { startKwokInstances, type KwokInstances } from './kwok-instances.ts';
import { nodeClass } from './objects.ts';
import { kwokCrds, startKarpenter, startScheduler, type RunningKarpenter } from './start.ts';

export const EVENTUALLY = { timeout: 60_000, interval: 100 };

export interface KarpenterBesideCurfew {
  readonly cluster: CurfewOnCluster;
  readonly kubelets: Kubelets;
  readonly ec2: KwokInstances;
  readonly karpenter: RunningKarpenter;
  /** Messages that Curfew has buried. */
  readonly problems: readonly string[];
  stop(): Promise<void>;
}

interface Settings {
  /** Makes what the cluster has before Curfew and Karpenter start. */
  readonly prepare: (cluster: CurfewOnCluster, apply: (manifest: Manifest) => Promise<void>) => Promise<void>;
  readonly controllers?: readonly string[];
  readonly nodeRepair?: boolean;
  /** Called before Curfew ends an instance. */
  readonly onEnd?: (providerID: string) => void;
}

/** Starts all of it; what has started by the time that something else fails is stopped. */
export async function startKarpenterBesideCurfew({
  prepare,
  controllers = [],
  nodeRepair = false,
  onEnd,
}: Settings): Promise<KarpenterBesideCurfew> {
  const stops: (() => Promise<void> | void)[] = [];
  const stop = async (): Promise<void> => {
    for (const each of stops.toReversed()) await each();
  };
  try {
    const cluster = await startCurfewOnCluster(line => process.stderr.write(`${line}\n`), controllers);
    stops.push(() => cluster.stop());
    const { plane, admin } = cluster;
    const http = createHttpClient({ url: plane.url, ca: plane.caPem, token: plane.tokenFor(ADMIN) });
    const apply = async (manifest: Manifest): Promise<void> => {
      const answer = await applyManifest(http, manifest);
      expect({ status: answer.status, text: answer.text }).toMatchObject({ status: 201 });
    };
    await applyFiles(http, await kwokCrds());
    await vi.waitFor(() => apply(nodeClass), EVENTUALLY);
    await prepare(cluster, apply);
    http.close();

    const ec2 = await startKwokInstances();
    stops.unshift(() => ec2.stop());
    const instances: Instances = {
      ...ec2.instances,
      terminate(providerID) {
        onEnd?.(providerID);
        return ec2.instances.terminate(providerID);
      },
    };
    const store = createMemoryRecordStore();
    const problems: string[] = [];
    const curfew = createSystem({
      cluster: 'real',
      scheduler: createRealScheduler(),
      kubernetes: cluster.kubernetes,
      watch: cluster.watch,
      records: store,
      dueIndex: store,
      instances: () => instances,
      audit: { write: () => undefined },
      hooks: { onBuried: message => problems.push(JSON.stringify(message)) },
    });
    curfew.start();
    stops.push(() => curfew.stop());
    const kubelets = await startKubelets(admin.kubernetes, admin.watch);
    stops.push(() => kubelets.stop());
    await startScheduler(plane);
    const karpenter = await startKarpenter(plane, { nodeRepair });
    return { cluster, kubelets, ec2, karpenter, problems, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

export const statusText = ({ status }: KubernetesObject, key: string): string => textAt(status ?? {}, key) ?? '';

export const isTrue = ({ status }: KubernetesObject, type: string): boolean =>
  JSON.stringify(status?.['conditions'] ?? []).includes(`"status":"True","type":"${type}"`);
