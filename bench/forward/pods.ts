/** Pods of the size that workloads have: a service with a proxy beside it, as a Deployment makes them. */
import type { JsonObject, KubernetesManifest } from '../../shared/domain/kubernetes-object.ts';
import { toTimestamp, type EpochMs } from '../../shared/domain/time.ts';
import { digest, managedBy, NAMESPACE, nodeName, podName } from './objects.ts';

export interface PodOptions {
  readonly index: number;
  /** A pod that replaces another one has the next generation, and with it another name. */
  readonly generation: number;
  readonly nodes: number;
  /** Carries `karpenter.sh/do-not-disrupt`, so that its changes matter to Curfew. */
  readonly annotated: boolean;
}

/** As a controller creates it and a scheduler has placed it; the status is the kubelet's. */
export function podManifest({ index, generation, nodes, annotated }: PodOptions): KubernetesManifest {
  const app = `service-${index % 400}`;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: NAMESPACE,
      name: podName(index, generation),
      labels: {
        app,
        'app.kubernetes.io/instance': app,
        'app.kubernetes.io/name': app,
        'app.kubernetes.io/version': `1.${index % 30}.0`,
        'pod-template-hash': '7d9c8b6f5d',
      },
      annotations: {
        'prometheus.io/port': '9090',
        'prometheus.io/scrape': 'true',
        'checksum/config': digest(index),
        ...(annotated && { 'karpenter.sh/do-not-disrupt': '4h' }),
      },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: `${app}-7d9c8b6f5d`,
          uid: `00000000-0000-4000-8000-${String(index % 400).padStart(12, '0')}`,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
      ...managedBy(
        {
          manager: 'kube-controller-manager',
          fields: ['f:annotations', 'f:labels', 'f:ownerReferences', 'f:containers'],
        },
        {
          manager: 'kubelet',
          fields: ['f:conditions', 'f:containerStatuses', 'f:podIP', 'f:startTime'],
          subresource: 'status',
        },
      ),
    },
    spec: {
      nodeName: nodeName(index % nodes),
      serviceAccountName: 'default',
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      schedulerName: 'default-scheduler',
      enableServiceLinks: false,
      priority: 0,
      securityContext: { runAsNonRoot: true, fsGroup: 1000, seccompProfile: { type: 'RuntimeDefault' } },
      tolerations: [
        { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
        { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
      ],
      containers: [container(app, 12), container('proxy', 6)],
      volumes: [
        {
          name: 'kube-api-access',
          projected: {
            defaultMode: 420,
            sources: [
              { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
              { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
            ],
          },
        },
        { name: 'config', configMap: { name: `${app}-config`, defaultMode: 420 } },
      ],
    },
  };
}

/** The status of a running pod. */
export function podStatus(index: number, startTime: EpochMs): JsonObject {
  const condition = (type: string): JsonObject => ({
    type,
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: toTimestamp(startTime),
  });
  return {
    phase: 'Running',
    conditions: ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map(condition),
    hostIP: `10.0.${index % 250}.${index % 199}`,
    podIP: `10.1.${index % 250}.${index % 251}`,
    podIPs: [{ ip: `10.1.${index % 250}.${index % 251}` }],
    qosClass: 'Burstable',
    startTime: toTimestamp(startTime),
    containerStatuses: [`service-${index % 400}`, 'proxy'].map(name => containerStatus(name, startTime, true)),
  };
}

/** The kubelet's last word: its containers have ended, the pod is about to go. */
export function stoppedPodStatus(index: number, startTime: EpochMs): JsonObject {
  return {
    containerStatuses: [`service-${index % 400}`, 'proxy'].map(name => containerStatus(name, startTime, false)),
  };
}

function containerStatus(name: string, startTime: EpochMs, running: boolean): JsonObject {
  const startedAt = toTimestamp(startTime);
  return {
    name,
    image: `602401143452.dkr.ecr.us-west-2.amazonaws.com/team/${name}:v1`,
    imageID: `602401143452.dkr.ecr.us-west-2.amazonaws.com/team/${name}@sha256:${digest(name.length)}`,
    containerID: `containerd://${digest(name.length + 1)}`,
    ready: running,
    started: running,
    restartCount: 0,
    lastState: {},
    state: running
      ? { running: { startedAt } }
      : { terminated: { exitCode: 0, reason: 'Completed', startedAt, finishedAt: startedAt } },
  };
}

function container(name: string, variables: number): JsonObject {
  const probe = { httpGet: { path: '/healthz', port: 8080, scheme: 'HTTP' }, periodSeconds: 10, timeoutSeconds: 1 };
  return {
    name,
    image: `602401143452.dkr.ecr.us-west-2.amazonaws.com/team/${name}:v1`,
    imagePullPolicy: 'IfNotPresent',
    args: ['--config=/etc/config/config.yaml', '--log-level=info', '--listen=:8080'],
    ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
    env: Array.from({ length: variables }, (_unused, index) => ({
      name: `SETTING_${index}`,
      value: `https://service-${index}.default.svc.cluster.local:8443/api/v1`,
    })),
    resources: { requests: { cpu: '250m', memory: '256Mi' }, limits: { memory: '512Mi' } },
    livenessProbe: probe,
    readinessProbe: probe,
    securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    volumeMounts: [
      { name: 'kube-api-access', mountPath: '/var/run/secrets/kubernetes.io/serviceaccount', readOnly: true },
      { name: 'config', mountPath: '/etc/config', readOnly: true },
    ],
  };
}
