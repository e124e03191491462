/** `curfew uninstall` on kube-apiserver, which goes by a deleted admission policy for a moment. */
import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { terminationPolicy } from '../../cli/policies/termination-policy.ts';
import { runCurfew } from '../cli/run-curfew.ts';
import { startControlPlane, type ControlPlane } from './start.ts';

const KARPENTERS = 'karpenter.sh/termination';
const OURS = 'a.example/f';

let plane: ControlPlane;
beforeAll(async () => {
  plane = await startControlPlane();
});
afterAll(() => plane?.stop());

function kubectl(input: unknown, ...parameters: string[]): string {
  const { kubectl: command = 'kubectl', adminKubeconfig } = plane;
  const ran = spawnSync(command, ['--kubeconfig', adminKubeconfig, ...parameters], {
    encoding: 'utf8',
    input: JSON.stringify(input),
  });
  if (ran.status !== 0) throw new Error(ran.stderr);
  return ran.stdout;
}

const list = (items: readonly unknown[]): object => ({ apiVersion: 'v1', kind: 'List', items });
const node = (name: string): object => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels: { 'karpenter.sh/nodepool': 'web' }, finalizers: [KARPENTERS] },
});
const finalizers = (): string => kubectl('', 'get', 'nodes', '-o', 'jsonpath={.items[*].metadata.finalizers[*]}');

it('leaves no Node under our finalizer, though the admission policy was there until now', async () => {
  const others = { nodeClaims: OURS, nodes: OURS, replaces: true };
  kubectl(list(terminationPolicy({ pools: new Map(), others })), 'apply', '-f', '-');
  await vi.waitFor(
    () => {
      kubectl(node('probe'), 'apply', '-f', '-');
      kubectl(node('probe'), 'annotate', '-f', '-', '--overwrite', `probe=${Math.random()}`);
      expect(finalizers()).toBe(OURS);
    },
    { timeout: 20_000, interval: 500 },
  );
  kubectl(list(['a', 'b', 'c'].map(node)), 'create', '-f', '-');
  expect(finalizers()).toBe([OURS, OURS, OURS, OURS].join(' '));
  const { code, stderr } = await runCurfew(['uninstall', '--kubeconfig', plane.adminKubeconfig]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(finalizers()).toBe([KARPENTERS, KARPENTERS, KARPENTERS, KARPENTERS].join(' '));
});
