/** I7: what is whose on a Node that a scenario starts with, or that a person edits. */
import { describe, expect, it } from 'vitest';
import { simulate } from '../simulate.ts';

const CONFIG = `  config: |
    [[userNamespaces]]
    name = "*"
    mode = "AllowCompletion"
`;
const event = (at: string, detail: string): string =>
  `    - { at: ${at}, busEvent: { source: m, detail-type: HealthEvent, detail: { nodeName: n1, ${detail} } } }\n`;
const edit = (at: string, annotations: string): string =>
  `    - { at: ${at}, patch: { resource: nodes, name: n1, merge: { metadata: { annotations: { ${annotations} } } } } }\n`;

async function violations(node: string, steps: string): Promise<readonly string[]> {
  const objects = `  objects:
    - { apiVersion: v1, kind: Node, ${node} }
    - { apiVersion: v1, kind: Pod, metadata: { namespace: ml, name: a }, spec: { nodeName: n1 } }
`;
  const result = await simulate(`${CONFIG}${objects}  steps:\n${steps}`);
  return result.violations.map(({ invariant, message }) => `${invariant}: ${message}`);
}

const MARKS = `curfew.dev/cordoned-by-drain: mine, curfew.dev/drain: x, curfew.dev/drain-answer: x, curfew.dev/watch-pods: y`;

describe('an annotation that Curfew alone writes', () => {
  it('is its own, also when somebody else has edited it', async () => {
    const steps = event('10s', 'id: e1') + edit('1m', MARKS) + event('5m', 'id: h, isHealthy: true');
    expect(await violations('metadata: { name: n1 }', steps)).toEqual([]);
  });
});

describe('a cordon', () => {
  const over = event('10s', 'id: u, nodeQuarantined: UnQuarantined');
  const node = (annotations: string): string =>
    `metadata: { name: n1, labels: { dgxc.nvidia.com/nvsentinel-state: drain-succeeded }, annotations: { ${annotations} } }, spec: { unschedulable: true }`;

  it('that is marked when the scenario starts is taken back', async () => {
    expect(await violations(node('curfew.dev/cordoned-by-drain: e1'), over)).toEqual([]);
  });
});
