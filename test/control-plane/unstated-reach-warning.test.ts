/** The admission policy of `deploy/policies` on kube-apiserver: it says of a policy what `curfew validate` says. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import type { KubernetesManifest } from '../../shared/domain/kubernetes-object.ts';
import { seconds, toDurationMs } from '../../shared/domain/time.ts';
import { APPLIED_POLICIES } from '../fixtures/unstated-reach-manifests.ts';
import { startControlPlane, type ControlPlane } from './start.ts';

const fileOf = (path: string): string => fileURLToPath(new URL(`../../deploy/${path}`, import.meta.url));

/** How long the API server may take to serve a definition, and to put a policy into force. */
const IN_FORCE_WITHIN = seconds(30);

let plane: ControlPlane;

/** What kubectl prints, warnings included. Throws when the server refuses. */
function kubectl(parameters: readonly string[], input = ''): string {
  const { kubectl: command = 'kubectl', adminKubeconfig } = plane;
  const ran = spawnSync(command, ['--kubeconfig', adminKubeconfig, ...parameters], { input, encoding: 'utf8' });
  if (ran.status !== 0) throw new Error(ran.stderr);
  return ran.stdout + ran.stderr;
}

const apply = (manifest: KubernetesManifest): readonly string[] =>
  kubectl(['apply', '--dry-run=server', '-f', '-'], JSON.stringify(manifest))
    .split('\n')
    .flatMap(line => /^Warning: .*: (enforces .*)$/.exec(line)?.[1] ?? []);

beforeAll(async () => {
  plane = await startControlPlane({ log: line => process.stderr.write(`${line}\n`) });
  kubectl(['apply', '-f', fileOf('crds/nodelifecyclepolicies.curfew.dev.yaml')]);
  kubectl(['wait', '--for=condition=Established', 'crd/nodelifecyclepolicies.curfew.dev', '--timeout=30s']);
  kubectl(['apply', '-f', fileOf('policies/unstated-reach-warning.yaml')]);
  const [first] = APPLIED_POLICIES;
  const deadline = systemClock.now() + IN_FORCE_WITHIN;
  while (first !== undefined && apply(first.manifest).length === 0) {
    if (systemClock.now() > deadline) throw new Error('the policy does not come into force');
    await systemClock.sleep(toDurationMs(200));
  }
});
afterAll(() => plane?.stop());

describe('unstated-reach-warning.curfew.dev', () => {
  it.each(APPLIED_POLICIES)('$manifest.metadata.name', ({ manifest, warning }) => {
    expect(apply(manifest)).toEqual(warning === undefined ? [] : [warning]);
  });

  it('has no complaint of the type checker', () => {
    const status = kubectl(['get', 'validatingadmissionpolicies', '-o', 'jsonpath={.items[*].status.typeChecking}']);
    expect(status).not.toContain('expressionWarnings');
  });
});
