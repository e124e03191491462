/** What the command line says about a real cluster that it cannot watch. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { runCurfew } from '../cli/run-curfew.ts';
import { startControlPlane, type ControlPlane } from './start.ts';

let plane: ControlPlane;

beforeAll(async () => {
  plane = await startControlPlane();
});
afterAll(async () => {
  await plane.stop();
});

function kubectl(...args: readonly string[]): void {
  execFileSync(plane.kubectl ?? 'kubectl', ['--kubeconfig', plane.adminKubeconfig, ...args]);
}

describe('start --kubeconfig on kube-apiserver', () => {
  it('says which CRDs are missing, and then which permissions, and then watches', async () => {
    const missing = await runCurfew(['start', '--kubeconfig', plane.adminKubeconfig]);
    expect(missing.stderr).toBe(
      "the cluster does not serve nodeclaims.karpenter.sh and nodepools.karpenter.sh: install Karpenter's CRDs, or choose another context\n",
    );
    expect(missing.code).toBe(2);

    for (const crd of plane.karpenterCrds) kubectl('create', '-f', crd);
    kubectl('wait', '--for=condition=Established', '--timeout=30s', 'crd', '--all');
    const denied = await runCurfew(['start', '--kubeconfig', plane.kubeconfigFor('nobody')]);
    expect(denied.stderr).toMatch(
      /^your user may not list nodes, watch nodes, .*: bind it to the roles in deploy\/forwarder\/rbac\.yaml, deploy\/rbac\/\S+.*\n$/,
    );
    expect(denied.code).toBe(2);

    const watching = await runCurfew(['start', '--kubeconfig', plane.adminKubeconfig], output =>
      output.includes('Ctrl-C'),
    );
    expect({ code: watching.code, stderr: watching.stderr }).toEqual({ code: 0, stderr: '' });
    expect(watching.stdout).toContain('Mode: observe');
  });
});

describe('snapshot --kubeconfig on kube-apiserver', () => {
  it('is a scenario that says what would be repaired, drained and held', async () => {
    kubectl('apply', '--server-side', '-k', 'deploy/');
    kubectl('wait', '--for=condition=Established', '--timeout=30s', 'crd', '--all');
    const node = (name: string, annotations: object): object => ({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels: { 'eks.amazonaws.com/nodegroup': 'workers' }, annotations },
      spec: { providerID: `aws:///us-west-2a/i-${name}` },
    });
    const pod = (name: string, nodeName: string, value?: string): object => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'default', annotations: value && { 'karpenter.sh/do-not-disrupt': value } },
      spec: { nodeName, containers: [{ name: 'main', image: 'main:1' }] },
    });
    const config = '[featureGates]\nnodeRepair = true\n[[userNamespaces]]\nname = "*"\nmode = "AllowCompletion"\n';
    apply(
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: 'default' } },
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'curfew-config', namespace: 'curfew' },
        data: { 'config.toml': config },
      },
      {
        apiVersion: 'curfew.dev/v1alpha1',
        kind: 'NodeLifecyclePolicy',
        metadata: { name: 'all' },
        spec: {
          nodePoolSelector: {},
          mode: 'Enforce',
          repair: { nodesWithoutNodeClaim: 'TerminateInAutoScalingGroup', maxUnhealthy: '100%' },
        },
      },
      node('sick', {}),
      node('leaving', { 'curfew.dev/drain-requested': 'mine' }),
      node('vetoed', { 'curfew.dev/do-not-repair': 'true' }),
      pod('busy', 'leaving'),
      pod('guarded', 'leaving', '2h'),
    );
    const lastTransitionTime = new Date(Math.floor(Date.now() / 1000) * 1000 - 3_600_000).toISOString();
    for (const name of ['sick', 'vetoed']) {
      const conditions = [{ type: 'Ready', status: 'False', reason: 'KubeletNotReady', lastTransitionTime }];
      kubectl(
        'patch',
        'node',
        name,
        '--subresource=status',
        '--type=merge',
        '-p',
        JSON.stringify({ status: { conditions } }),
      );
    }
    const folder = mkdtempSync(join(tmpdir(), 'curfew-test-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'snapshot.yaml');
    expect(await runCurfew(['snapshot', '--kubeconfig', plane.adminKubeconfig, '--output', file])).toMatchObject({
      code: 0,
      stderr: '',
    });
    const { code, stdout } = await runCurfew(['simulate', file, '--output', 'json']);
    expect(code).toBe(0);
    const { outcome } = JSON.parse(stdout) as { outcome: unknown };
    expect(outcome).toMatchObject({
      done: expect.arrayContaining([expect.objectContaining({ what: 'repair', object: 'Node sick' })]) as unknown,
      held: expect.arrayContaining([
        expect.objectContaining({ object: 'Node leaving', by: 'drain', reason: 'AwaitingPodCompletion' }),
        expect.objectContaining({ object: 'Node leaving', by: 'grace-period', reason: 'PodsProtected' }),
        expect.objectContaining({ object: 'Node vetoed', by: 'repair', reason: 'DoNotRepair' }),
      ]) as unknown,
    });
    expect((await runCurfew(['simulate', file])).stdout).toMatch(
      /Summary\n {2}done:\n {4}\S+ {2}Node sick termination by repair begun: Ready=False since /,
    );
  });
});

/** Creates or changes the objects, in this order. */
function apply(...manifests: readonly object[]): void {
  const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: manifests });
  execFileSync(plane.kubectl ?? 'kubectl', ['--kubeconfig', plane.adminKubeconfig, 'apply', '-f', '-'], { input });
}
