/** The commands of docs/deploying.md on an empty kube-apiserver. */
import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startControlPlane, type ControlPlane } from './start.ts';

const DEPLOY = new URL('../../deploy', import.meta.url).pathname;

let plane: ControlPlane;
beforeAll(async () => {
  plane = await startControlPlane({ log: line => process.stderr.write(`${line}\n`) });
});
afterAll(() => plane?.stop());

function kubectl(...parameters: string[]) {
  const { kubectl: command = 'kubectl', adminKubeconfig } = plane;
  const { status, stdout, stderr } = spawnSync(command, ['--kubeconfig', adminKubeconfig, ...parameters], {
    encoding: 'utf8',
  });
  return { status, stdout, stderr, lines: stdout.trim().split('\n') };
}

describe('installing in a cluster', () => {
  it('is one command that applies everything at once, and nothing again', () => {
    const first = kubectl('apply', '-k', DEPLOY);
    expect([first.status, first.stderr]).toEqual([0, '']);
    expect(first.lines.filter(line => !line.endsWith(' created'))).toEqual([]);
    for (const part of [
      'namespace/curfew',
      'customresourcedefinition',
      'clusterrole',
      'configmap/curfew-config',
      'deployment.apps/curfew-forwarder',
      'validatingadmissionpolicy',
    ]) {
      expect(first.stdout).toContain(part);
    }
    const second = kubectl('apply', '-k', DEPLOY);
    expect([second.status, second.lines.filter(line => !/ (unchanged|configured)$/.test(line))]).toEqual([0, []]);
  });

  it('takes the sample policy once its definition is served', () => {
    const definition = 'crd/nodelifecyclepolicies.curfew.dev';
    expect(kubectl('wait', '--for=condition=Established', definition, '--timeout=30s').status).toBe(0);
    expect(kubectl('apply', '-f', `${DEPLOY}/samples`).stdout).toBe('nodelifecyclepolicy.curfew.dev/observe created\n');
    expect(kubectl('get', 'nlp', 'observe', '-o', 'jsonpath={.spec.mode}').stdout).toBe('Observe');
  });

  // Why the sample is not part of the kustomization: kubectl looks up every kind before it applies the first object.
  it('could not take a policy together with its definition', () => {
    kubectl('delete', '-f', `${DEPLOY}/samples`, '-f', `${DEPLOY}/crds`);
    const together = kubectl('apply', '-f', `${DEPLOY}/crds`, '-f', `${DEPLOY}/samples`);
    expect(together.status).not.toBe(0);
    expect(together.stderr).toMatch(/ensure CRDs are installed first|could not find the requested resource/);
  });
});
