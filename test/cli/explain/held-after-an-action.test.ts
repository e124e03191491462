/** What `curfew explain` says of an action under way when the next one, which its Event has promised, cannot follow any more. */
import { expect, it } from 'vitest';
import { explainedNode } from '../../builders/explained.ts';
import { historyText } from '../../builders/scenario.ts';

const PROMISE =
  'Reboot has begun, and has time until 2024-11-01T15:25:00Z; after it, while the node is unhealthy: Terminate: GpuFault=True since 2024-11-01T15:10:00Z, tolerated 5m0s, repair is due at 2024-11-01T15:15:00Z; by spec.repair.conditions[0] of NodeLifecyclePolicy p';

/** Explanation of the repair, two minutes after its reboot began. @param step what happened a minute before */
async function repairAfter(step: string): Promise<string | undefined> {
  const repair =
    '{ maxUnhealthy: 100%, zoneOutage: "Off", conditions: [{ type: GpuFault, status: "True", toleration: 5m }], actions: [{ type: Reboot, timeout: 10m }, { type: Terminate }] }';
  const lines = await explainedNode(
    historyText({
      duration: '20m',
      rest: '  config: "[featureGates]\\nnodeRepair = true\\n"\n  nodes: [{ pool: web, count: 3 }]\n',
      objects: [
        '{ apiVersion: karpenter.sh/v1, kind: NodePool, metadata: { name: web, labels: { team: a } }, spec: {} }',
        '{ apiVersion: karpenter.sh/v1, kind: NodePool, metadata: { name: other }, spec: {} }',
        `{ apiVersion: curfew.dev/v1alpha1, kind: NodeLifecyclePolicy, metadata: { name: p }, spec: { nodePoolSelector: { matchLabels: { team: a } }, mode: Enforce, repair: ${repair} } }`,
      ],
      steps: ['{ at: 10m, condition: { node: web-0, type: GpuFault, status: "True" } }', `{ at: 16m, ${step} }`],
    }),
    'web-0',
    '17m',
  );
  return lines.find(line => line.startsWith('  repair: '));
}

it.each([
  [
    'the gate is closed',
    'patch: { resource: configmaps, namespace: curfew, name: curfew-config, merge: { data: { config.toml: "[featureGates]\\nnodeRepair = false\\n" } } }',
    'featureGates.nodeRepair is off',
  ],
  [
    'the policy goes',
    'delete: { resource: nodelifecyclepolicies, name: p }',
    'no repair block applies to the pool of this node',
  ],
  [
    'the node moves to a pool without repair',
    'patch: { resource: nodeclaims, name: web-0, merge: { metadata: { labels: { karpenter.sh/nodepool: other } } } }',
    'no repair block applies to the pool of this node',
  ],
  [
    'the mode becomes Observe',
    'patch: { resource: nodelifecyclepolicies, name: p, merge: { spec: { mode: Observe } } }',
    'mode is Observe, by NodeLifecyclePolicy p',
  ],
  [
    'somebody vetoes repair',
    'patch: { resource: nodes, name: web-0, merge: { metadata: { annotations: { curfew.dev/do-not-repair: "true" } } } }',
    'curfew.dev/do-not-repair on Node web-0 holds until it is removed',
  ],
  [
    'the threshold is exceeded',
    'patch: { resource: nodelifecyclepolicies, name: p, merge: { spec: { repair: { maxUnhealthy: 0% } } } }',
    '1 of 3 nodes of NodePool web are unhealthy, repair stops above 0 (maxUnhealthy)',
  ],
])('when %s, says what holds the next action', async (_name, step, held) => {
  expect(await repairAfter(step)).toContain(`${PROMISE}; what follows is held: ${held}`);
});

it('holds nothing while all is as it was, or the node is well', async () => {
  for (const step of ['restart: forwarder', 'condition: { node: web-0, type: GpuFault, status: "False" }'])
    expect(await repairAfter(step)).not.toContain('is held');
});
