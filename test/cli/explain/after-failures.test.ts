/** What `curfew explain` says once something has failed: what was tried, what is not under way any more, and what is not known. */
import { expect, it } from 'vitest';
import { explain } from '../../../cli/explain.ts';
import { onScenario } from '../../../cli/explain/on-scenario.ts';
import type { ExplainedObject } from '../../../cli/explain/subject.ts';
import { explainedNode } from '../../builders/explained.ts';
import { historyText } from '../../builders/scenario.ts';

const linesOf = async (scenario: string, at: string, subject: ExplainedObject): Promise<readonly string[]> => {
  const file = `test/cli/explain/after-failures.yaml#${scenario}`;
  const text = await onScenario(file, at, cluster => explain(cluster, subject, false));
  return (text ?? '').split('\n').map(line => line.trim());
};
const node = (name: string): ExplainedObject => ({ kind: 'node', name });

it('counts looks at an instance as tries of the step, not as ends that were refused', async () => {
  const lines = await linesOf('ec2-says-nothing', '20m', node('n1'));
  expect(lines).toContainEqual(
    expect.stringMatching(/^fails: step TerminateInstance of the termination, .*: describing instance aws/),
  );
  expect(lines.filter(line => line.startsWith('refused: '))).toEqual([]);
});

it('names no deadline of a launch that has failed', async () => {
  const held = await linesOf('no-capacity', '16m', node('web-0'));
  expect(held).toContainEqual(expect.stringMatching(/; held: .* it is tried again at 2024-11-01T15:20:10Z$/));
  const failed = (await linesOf('no-capacity', '41m', node('web-0'))).find(line => line.startsWith('repair: '));
  expect(failed).toMatch(
    /^repair: due since 2024-11-01T15:15:00Z .*; Replace could not be carried out: NodeClaim .* is gone/,
  );
  expect(failed).toMatch(/; no replacement can be launched: it is tried again at 2024-11-01T15:50:30Z; Replace/);
  expect(failed).not.toContain('under way');
});

it('names no try that is over as one to come', async () => {
  const repairOf = async (at: string) =>
    (await linesOf('deletion-is-refused', at, node('web-0'))).find(line => line.startsWith('repair: '));
  expect(await repairOf('5m10s')).toMatch(/ it is tried again at 2024-11-01T15:06:00Z$/);
  expect(await repairOf('18m')).toMatch(/ it was to be tried again at 2024-11-01T15:06:00Z$/);
});

it('says when the allowance of an action that an earlier incident has used up returns', async () => {
  const lines = await linesOf('allowance-used-in-earlier-incidents', '130m', node('web-0'));
  expect(lines).toContainEqual(
    expect.stringMatching(/^repair: .*no further action is set; an allowance returns at 2024-11-02T15:15:00Z$/),
  );
});

it('does not say how many nodes are unhealthy by a block that cannot be read', async () => {
  const [title] = await linesOf('block-that-cannot-be-read', '12m', { kind: 'nodepool', name: 'web' });
  expect(title).toBe('NodePool web: 5 nodes, not known of 5 whether they are unhealthy');
});

it('says of a drain that it is over although its Node cannot show that', async () => {
  const drainOf = async (name: string, at: string) =>
    (await linesOf('ends-that-nodes-cannot-show', at, node(name))).find(line => line.startsWith('drain: '));
  const until = 'the node shows it until it may be changed';
  expect(await drainOf('n1', '30m')).toBe(`drain: e1 is over (Succeeded: 1 pod was drained); ${until}`);
  expect(await drainOf('n2', '30m')).toBe(`drain: r1 is over (Cancelled: the request was withdrawn); ${until}`);
  expect(await drainOf('n2', '15m')).toMatch(/^drain: r1 is under way, /);
});

it.each([
  [
    'replicas: 3',
    '[{ type: ReplaceThenTerminate }, { type: Terminate }]',
    'terminates; pods have no time to leave; launches no replacement: NodePool web is static, and has its 3 nodes',
  ],
  [
    'limits: { nodes: "3" }',
    '[{ type: ReplaceThenTerminate }]',
    'launches no replacement: limit nodes of NodePool web is "3": there is no room for one more',
  ],
  [
    'limits: { nodes: "4" }',
    '[{ type: ReplaceThenTerminate }]',
    'launches a replacement for 10 minutes; pods have no time to leave',
  ],
])('promises no replacement that a NodePool with %s has no room for', async (rule, actions, expected) => {
  const repair = `{ defaultTolerationDuration: 10m, maxUnhealthy: 100%, actions: ${actions} }`;
  const lines = await explainedNode(
    historyText({
      duration: '15m',
      rest: '  config: "[featureGates]\\nnodeRepair = true\\n"\n  nodes: [{ pool: web, count: 3 }]\n',
      objects: [
        `{ apiVersion: karpenter.sh/v1, kind: NodePool, metadata: { name: web }, spec: { ${rule} }, status: { resources: { nodes: "3" } } }`,
        `{ apiVersion: curfew.dev/v1alpha1, kind: NodeLifecyclePolicy, metadata: { name: a }, spec: { nodePoolSelector: {}, mode: Enforce, repair: ${repair} } }`,
      ],
      steps: ['{ at: 10m, condition: { node: web-0, type: Ready, status: "False" } }'],
    }),
    'web-0',
    '15m',
  );
  expect(lines.map(line => line.trim())).toContain(`then it ${expected}`);
});
