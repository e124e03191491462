/** Curfew in this process, on an embedded API server with the example's own manifests and configuration, beside the bridge. */
import { runLoop } from '../../examples/loop.ts';
import { runPass } from '../../examples/slurm-drain/bridge/pass.ts';
import { REQUESTS } from '../../examples/slurm-drain/bridge/request.ts';
import type { Slurm } from '../../examples/slurm-drain/bridge/slurm.ts';
import { createInProcessClusterWatch } from '../../runtime/in-process/cluster-watch.ts';
import { createInProcessKubernetesApi } from '../../runtime/in-process/kubernetes-api.ts';
import { createMemoryRecordStore } from '../../runtime/memory/record-store.ts';
import { createRealScheduler } from '../../runtime/real-scheduler.ts';
import { createSystem } from '../../runtime/system.ts';
import { customResourceDefinitions } from '../../simulator/custom-resource-definitions.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { CONFIG_MAP, HEALTH_EVENT } from '../../shared/contract/names.ts';
import { PERMISSIONS, type KubernetesGrant, type Component } from '../../shared/contract/permissions.ts';
import { seconds } from '../../shared/domain/time.ts';
import type { AuditRecord } from '../../shared/ports/audit-log.ts';
import { createBridgeCluster, readManifest, type BridgeCluster } from '../examples/slurm-drain/bridge-cluster.ts';

export interface WholeFlow extends BridgeCluster {
  readonly audit: readonly AuditRecord[];
  /** A monitor reports a fatal fault of Node n1. */
  report(id: string): void;
  exists(name: string): boolean;
  stop(): Promise<void>;
}

const PERIOD_MS = 200;

export function startWholeFlow(slurm: Slurm): WholeFlow {
  const scheduler = createRealScheduler();
  const cluster = createBridgeCluster(() => systemClock.now());
  const { core } = cluster;
  for (const definition of customResourceDefinitions()) core.seed(definition);
  core.seed({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', labels: { 'slurm.example.com/node': 'true' } } });
  core.seed({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: CONFIG_MAP.namespace, name: CONFIG_MAP.name },
    data: {
      [CONFIG_MAP.key]: readManifest('config.toml'),
      'drain-template.yaml': readManifest('drain-template.yaml'),
    },
  });
  const audit: AuditRecord[] = [];
  const store = createMemoryRecordStore();
  const watch = createInProcessClusterWatch(core, scheduler);
  const granted = (part: Component, verbs: KubernetesGrant['verbs']) => ({
    ...PERMISSIONS[part],
    kubernetes: [...PERMISSIONS[part].kubernetes, { group: REQUESTS.group, resource: REQUESTS.resource, verbs }],
  });
  const system = createSystem({
    cluster: 'slurm',
    scheduler,
    kubernetes: by => createInProcessKubernetesApi(core, `curfew:${by}`),
    watch,
    records: store,
    dueIndex: store,
    instances: () => ({
      describe: async () => undefined,
      checkOf: async () => undefined,
      list: async () => [],
      terminate: async () => ({ kind: 'notFound' }),
      reboot: async () => ({ kind: 'notFound' }),
      terminateInAutoScalingGroup: async () => ({ kind: 'notFound' }),
    }),
    // Not the 30 s of production: a request changes more often here.
    forwarder: { publishInterval: { period: seconds(1), burst: 3 } },
    audit: { write: record => void audit.push(record) },
    permissions: {
      drain: granted('drain', ['get', 'create', 'delete']),
      forwarder: granted('forwarder', ['list', 'watch']),
    },
  });
  system.start();
  const ended = new AbortController();
  const deps = {
    kubernetes: cluster.asBridge,
    slurm,
    clock: systemClock,
    owner: 'curfew',
    namespace: 'slurm',
    log: () => undefined,
  };
  const pass = () => runPass(deps);
  const bridge = runLoop(
    { watch, type: REQUESTS, namespace: 'slurm', pass, period: PERIOD_MS, log: deps.log },
    ended.signal,
  );
  return {
    ...cluster,
    audit,
    report(id) {
      const detail = {
        id,
        nodeName: 'n1',
        agent: 'monitor',
        checkName: 'GpuXid',
        isFatal: true,
        message: 'GPU fell off the bus',
      };
      system.publish({ source: 'monitor', 'detail-type': HEALTH_EVENT, detail });
    },
    exists: name => core.list(REQUESTS, { namespace: 'slurm' }).items.some(({ metadata }) => metadata.name === name),
    async stop() {
      ended.abort();
      await bridge;
      await system.stop();
      scheduler.close();
    },
  };
}
