import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { simulateCommand } from '../../cli/simulate.ts';
import { snapshotCommand, takeSnapshot } from '../../cli/snapshot.ts';
import { toSnapshotObject } from '../../cli/snapshot/projection.ts';
import { startEmbeddedCluster, type EmbeddedCluster } from '../../cli/start/embedded-cluster.ts';
import { storyObjects } from '../../cli/start/story.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { JsonObject } from '../../shared/domain/kubernetes-object.ts';
import { toEpochMs, toTimestamp } from '../../shared/domain/time.ts';
import { createInProcessKubernetesApi } from '../../runtime/in-process/kubernetes-api.ts';
import { outcomeOf } from '../../simulator/outcome.ts';
import { runScenario } from '../../simulator/run.ts';
import { parseScenarios } from '../../simulator/scenario/parse.ts';
import type { Scenario } from '../../simulator/scenario/scenario.ts';
import { clusterCatalog } from '../../simulator/world.ts';
import { historyText, scenarioOf } from '../builders/scenario.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const PRIVATE = 'correct-horse-battery-staple';

let folder: string;
let cluster: EmbeddedCluster;
let snapshot: string;
let file: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'curfew-test-'));
  cluster = await startEmbeddedCluster(systemClock, 0);
  const { core } = cluster;
  const now = systemClock.now();
  for (const manifest of storyObjects(toTimestamp(now))) core.seed(manifest);
  core.seed({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 's', namespace: 'default' },
    data: { password: btoa(PRIVATE) },
  });
  core.seed({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'web-0',
      namespace: 'default',
      annotations: {
        'karpenter.sh/do-not-disrupt': '4h',
        'kubectl.kubernetes.io/last-applied-configuration': `{"env":"${PRIVATE}"}`,
      },
    },
    spec: {
      nodeName: 'node-3',
      containers: [
        { name: 'web', image: `example/${PRIVATE}`, command: [PRIVATE], env: [{ name: 'PASSWORD', value: PRIVATE }] },
      ],
      volumes: [{ name: 'v', secret: { secretName: PRIVATE } }],
    },
    status: { phase: 'Running', message: PRIVATE },
  });
  // Unhealthy for an hour: due as soon as the snapshot is simulated.
  const since = toTimestamp(toEpochMs(now - 3_600_000));
  const conditions = [
    { type: 'NetworkUnavailable', status: 'True', reason: 'Test', message: PRIVATE, lastTransitionTime: since },
  ];
  core.patch(
    { type: RESOURCES.Node, name: 'node-1' },
    { type: 'merge', body: { status: { conditions } } },
    { user: 'kubelet', subresource: 'status' },
  );
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, cluster.kubeconfig());
  file = join(folder, 'snapshot.yaml');
  const code = await snapshotCommand({ kubeconfig, output: file, duration: '1h' });
  if (code !== 0) throw new Error(`snapshot ended with ${code}`);
  snapshot = readFileSync(file, 'utf8');
});
afterAll(async () => {
  await cluster.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('a snapshot', () => {
  it('holds what rules read', () => {
    for (const text of [
      'name: node-1',
      'name: default-1',
      'kind: NodePool',
      'nodeRepair = true',
      'karpenter.sh/do-not-disrupt: 4h',
    ]) {
      expect(snapshot).toContain(text);
    }
  });

  it('holds no Secret, no environment value, no command, no image, no annotation of others and no message', () => {
    expect(snapshot).not.toContain(PRIVATE);
    expect(snapshot).not.toContain(btoa(PRIVATE));
    expect(snapshot).not.toContain('PASSWORD');
    expect(snapshot).not.toContain('last-applied');
  });

  it.each([
    [0o644, 'keeps its mode 644: others can read the snapshot\n'],
    [0o640, 'keeps its mode 640: others can read the snapshot\n'],
    [0o600, ''],
    [undefined, ''],
  ])('says that others can read it where a file was there with mode %o', async (mode, said) => {
    const output = join(folder, `mode-${mode}.yaml`);
    if (mode !== undefined) {
      writeFileSync(output, '');
      chmodSync(output, mode);
    }
    let error = '';
    const code = await snapshotCommand(
      { kubeconfig: join(folder, 'kubeconfig'), output },
      { out: () => undefined, error: text => (error += text) },
    );
    expect([code, error.slice(-said.length || error.length)]).toEqual([0, said]);
    expect(statSync(output).mode & 0o777).toBe(mode ?? 0o600);
  });

  it('can be simulated: it says what the policies would do to the cluster', async () => {
    let printed = '';
    const output = { out: (text: string) => void (printed += text), error: (text: string) => void (printed += text) };
    expect(await simulateCommand([file], {}, output)).toBe(0);
    expect(printed).toContain('delete nodeclaims default-1');
    expect(printed).not.toContain('delete nodeclaims default-2');
    expect(printed).toContain('patch nodes node-3');
    expect(printed).toMatch(
      /Summary\n  done:\n.* Node node-1 termination by repair begun, by spec\.repair\.policies of NodePool default: NetworkUnavailable=True since /,
    );
    expect(printed).toContain('no expectations');
  });
});

describe('a pod in a snapshot', () => {
  it('takes less than a kilobyte: there may be tens of thousands', () => {
    const time = '2024-11-01T15:00:00Z';
    const uid = '6f1c9a1e-6c1f-4f4a-9d0e-0d8f0c6f2a11';
    const owned = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-5d4f8c7b9c', uid, controller: true };
    const tolerated = ['not-ready', 'unreachable'].map(name => ({
      key: `node.kubernetes.io/${name}`,
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: 300,
    }));
    const pod = toSnapshotObject({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'web-5d4f8c7b9c-x2v4q',
        namespace: 'production',
        uid,
        creationTimestamp: time,
        resourceVersion: '1',
        labels: { app: 'web', 'pod-template-hash': '5d4f8c7b9c' },
        ownerReferences: [owned],
      },
      spec: {
        nodeName: 'ip-10-0-101-23.us-west-2.compute.internal',
        tolerations: [...tolerated, { key: 'gpu', operator: 'Exists' }],
      },
      status: {
        phase: 'Running',
        startTime: time,
        conditions: ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map(type => ({
          type,
          status: 'True',
          lastTransitionTime: time,
        })),
      },
    });
    expect(pod).toMatchObject({
      spec: { tolerations: [{ key: 'gpu', operator: 'Exists' }] },
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    });
    expect(stringify([pod]).length).toBeLessThan(1000);
  });
});

describe('a NodePool in a snapshot', () => {
  const template = (others: JsonObject, ofSpec: JsonObject): JsonObject => ({
    metadata: { labels: { team: 'a' }, ...others },
    spec: {
      nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' },
      requirements: [{ key: 'karpenter.sh/capacity-type', operator: 'In', values: ['spot'] }],
      taints: [{ key: 'gpu', effect: 'NoSchedule' }],
      startupTaints: [{ key: 'cni', effect: 'NoSchedule' }],
      expireAfter: '720h',
      terminationGracePeriod: '1h',
      ...ofSpec,
    },
  });

  it('has what a replacement goes by, and nothing else of its template', () => {
    const spec = { replicas: 3, limits: { cpu: '100' }, disruption: { budgets: [{ nodes: '10%' }] } };
    const ours = { 'karpenter.sh/do-not-disrupt': 'true' };
    const pool = toSnapshotObject({
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodePool',
      metadata: { name: 'p', uid: 'u', resourceVersion: '1', creationTimestamp: '2024-11-01T15:00:00Z' },
      spec: {
        ...spec,
        template: template({ annotations: { ...ours, 'example.com/x': PRIVATE } }, { kubelet: { x: PRIVATE } }),
      },
      status: { resources: { cpu: '96', nodes: '3' }, nodes: 3 },
    });
    expect(pool).toMatchObject({
      spec: { ...spec, template: template({ annotations: ours }, {}) },
      status: { resources: { cpu: '96', nodes: '3' } },
    });
    expect(JSON.stringify(pool)).not.toContain(PRIVATE);
  });

  it.each([
    ['is static', 'replicas: 3', 'is static, and has its 3 nodes'],
    ['is full', 'limits: { nodes: "3" }', 'limit nodes of NodePool web is "3": there is no room for one more'],
    ['has room', 'limits: { nodes: "4" }', undefined],
  ])('%s as the NodePool of the cluster', async (_, rule, fault) => {
    const pool = `{ apiVersion: karpenter.sh/v1, kind: NodePool, metadata: { name: web }, spec: { ${rule} }, status: { resources: { nodes: "3" } } }`;
    const block =
      '{ defaultTolerationDuration: 10m, maxUnhealthy: 100%, actions: [{ type: ReplaceThenTerminate }, { type: Terminate }] }';
    const policy = `{ apiVersion: curfew.dev/v1alpha1, kind: NodeLifecyclePolicy, metadata: { name: a }, spec: { nodePoolSelector: {}, mode: Enforce, repair: ${block} } }`;
    const scenario = scenarioOf(
      historyText({
        duration: '15m',
        rest: '  config: "[featureGates]\\nnodeRepair = true\\n"\n  nodes: [{ pool: web, count: 3 }]\n',
        objects: [pool, policy],
        steps: ['{ at: 10m, condition: { node: web-0, type: Ready, status: "False" } }'],
      }),
    );
    const { core } = await runScenario(scenario);
    const kubernetes = createInProcessKubernetesApi(core, 'test');
    const { trace } = await runScenario(
      scenarioOf(
        stringify(await takeSnapshot({ kubernetes, now: scenario.end }, '1h'), { aliasDuplicateObjects: false }),
      ),
    );
    const launched = trace.filter(({ line }) => line['verb'] === 'create' && line['resource'] === 'nodeclaims');
    expect(launched).toHaveLength(fault === undefined ? 1 : 0);
    if (fault !== undefined) expect(JSON.stringify(trace)).toContain(JSON.stringify(fault).slice(1, -1));
  });
});

describe('a snapshot in the middle of something', () => {
  it.each([
    ['drain-asked-on-the-node', 0.7, 'a drain that was asked for on the Node and answered'],
    ['repair-drains-before-it-terminates', 0.3, 'a drain under way'],
    ['drain-custom', 0.3, 'a custom drain, by a template'],
  ])('of %s, %d of its way: %s', async (name, part) => {
    const path = join(ROOT, 'examples/scenarios', `${name}.yaml`);
    const [scenario] = scenariosOf(readFileSync(path, 'utf8'), path);
    const end = toEpochMs(scenario.start + Math.floor(((scenario.end - scenario.start) * part) / 1000) * 1000);
    const steps = scenario.steps.filter(({ time }) => time <= end);
    const { core } = await runScenario({ ...scenario, end, steps, expectations: [] });
    const taken = await takeSnapshot({ kubernetes: createInProcessKubernetesApi(core, 'test'), now: end }, '2h');
    const [simulated] = scenariosOf(stringify(taken, { aliasDuplicateObjects: false }), 'snapshot.yaml');
    const { violations, refusals, trace } = await runScenario(simulated);
    expect({ violations, refusals }).toEqual({ violations: [], refusals: [] });
    // What was answered is not drained again.
    const drained = outcomeOf(trace).done.filter(({ what }) => what === 'drain');
    if (name === 'drain-asked-on-the-node') expect(drained).toEqual([]);
  });

  function scenariosOf(text: string, path: string): readonly [Scenario] {
    const parsed = parseScenarios(text, path, clusterCatalog());
    if (!parsed.ok || parsed.scenarios[0] === undefined) throw new Error(JSON.stringify(parsed));
    return [parsed.scenarios[0]];
  }
});

describe('snapshot', () => {
  it('says why a cluster cannot be used, and exits with 2', async () => {
    let message = '';
    const output = { out: () => undefined, error: (text: string) => void (message += text) };
    expect(await snapshotCommand({ kubeconfig: '/nowhere/kubeconfig' }, output)).toBe(2);
    expect(message).toMatch(/^kubeconfig \/nowhere\/kubeconfig does not exist/);
  });
});
