/** What `curfew explain` says that comes next for a node whose replacement is there already. */
import { expect, it } from 'vitest';
import { explainedNode } from '../../builders/explained.ts';
import { historyText } from '../../builders/scenario.ts';

const TEMPLATE = '{ nodeClassRef: { group: karpenter.k8s.aws, kind: EC2NodeClass, name: default }, requirements: [] }';
const REPAIR =
  '{ maxUnhealthy: 100%, zoneOutage: "Off", conditions: [{ type: GpuFault, status: "True", toleration: 5m }], actions: [{ type: ReplaceThenTerminate, timeout: 20m }] }';

/** The line about what comes next, of a repair that is vetoed while its replacement becomes ready. */
async function nextAt(time: string): Promise<string | undefined> {
  const lines = await explainedNode(
    historyText({
      duration: '1h',
      rest: '  config: "[featureGates]\\nnodeRepair = true\\n"\n  nodes: [{ pool: web, count: 3 }]\n',
      objects: [
        `{ apiVersion: karpenter.sh/v1, kind: NodePool, metadata: { name: web }, spec: { template: { spec: ${TEMPLATE} }, repair: ${REPAIR} } }`,
      ],
      steps: [
        '{ at: 10m, condition: { node: web-0, type: GpuFault, status: "True" } }',
        '{ at: 15m20s, patch: { resource: nodes, name: web-0, merge: { metadata: { annotations: { curfew.dev/do-not-repair: "true" } } } } }',
      ],
    }),
    'web-0',
    time,
  );
  return lines.find(line => line.startsWith('    then it '));
}

it('names the replacement instead of another launch', async () => {
  expect(await nextAt('14m')).toBe('    then it launches a replacement for 20 minutes; pods have no time to leave');
  expect(await nextAt('40m')).toMatch(/^ {4}then it lets its replacement, NodeClaim web-curfew-\w+, take its place; /);
});
