/** What `curfew explain` says that comes next for a node whose replacement is there already. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { explain } from '../../../cli/explain.ts';
import { onScenario } from '../../../cli/explain/on-scenario.ts';
import { historyText } from '../../builders/scenario.ts';

const TEMPLATE = '{ nodeClassRef: { group: karpenter.k8s.aws, kind: EC2NodeClass, name: default }, requirements: [] }';
const REPAIR =
  '{ maxUnhealthy: 100%, zoneOutage: "Off", conditions: [{ type: GpuFault, status: "True", toleration: 5m }], actions: [{ type: ReplaceThenTerminate, timeout: 20m }] }';

/** The line about what comes next, of a repair that is vetoed while its replacement becomes ready. */
async function nextAt(time: string): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'curfew-explain-'));
  const file = join(folder, 'a.yaml');
  writeFileSync(
    file,
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
  );
  const text = await onScenario(file, time, cluster => explain(cluster, { kind: 'node', name: 'web-0' }, false));
  rmSync(folder, { recursive: true });
  return text?.split('\n').find(line => line.startsWith('    then it '));
}

it('names the replacement instead of another launch', async () => {
  expect(await nextAt('14m')).toBe('    then it launches a replacement for 20 minutes; pods have no time to leave');
  expect(await nextAt('40m')).toMatch(/^ {4}then it lets its replacement, NodeClaim web-curfew-\w+, take its place; /);
});
