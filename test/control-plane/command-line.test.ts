/** What the command line says about a real cluster that it cannot watch. */
import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
