import { describe, expect, it } from 'vitest';
import { scenarioOf, SCENARIO_HEAD } from '../../builders/scenario.ts';
import { complaints, simulate, story } from '../simulate.ts';

const POOL = '{ apiVersion: karpenter.sh/v1, kind: NodePool, metadata: { name: web } }';

describe('nodes', () => {
  it('stand for a Node, a NodeClaim and an instance each, in the zones in turn', async () => {
    const result =
      await simulate(`  nodes: [{ pool: web, count: 3, zones: [us-west-2a, us-west-2b], labels: { team: edge } }]
  objects: [${POOL}]
  expect:
    - { final: { resource: nodes, name: web-1, match: { metadata: { labels: { karpenter.sh/nodepool: web, team: edge, topology.kubernetes.io/zone: us-west-2b } }, status: { conditions: [{ type: Ready, status: "True" }] } } } }
    - { final: { resource: nodeclaims, name: web-1, match: { metadata: { labels: { karpenter.sh/nodepool: web, team: edge } }, status: { nodeName: web-1, providerID: "aws:///us-west-2b/i-web-1", conditions: [{ type: Initialized, status: "True" }] } } } }
    - { final: { instance: "aws:///us-west-2a/i-web-2", state: running } }
`);
    expect(complaints(result)).toEqual([]);
    expect(result.notes).toEqual([]);
  });

  it('go on with their numbers where a pool stands in two entries', () => {
    const { objects } = scenarioOf(
      `${SCENARIO_HEAD}  nodes: [{ pool: web, count: 2 }, { pool: gpu }, { pool: web }]\n`,
    );
    const nodes = objects.filter(({ manifest }) => manifest.kind === 'Node').map(({ manifest }) => manifest.name);
    expect(nodes).toEqual(['web-0', 'web-1', 'gpu-0', 'web-2']);
  });

  it('of a pool that nothing makes get a note', () => {
    const { doubts } = scenarioOf(`${SCENARIO_HEAD}  nodes: [{ pool: wbe }]\n  objects: [${POOL}]\n`);
    expect(doubts).toEqual([
      {
        isDoubt: true,
        place: { file: 'test.yaml', line: 7, column: 13, valueColumn: 19, path: 'spec.nodes[0].pool' },
        message: 'no NodePool has the name "wbe", did you mean "web"?',
      },
    ]);
  });

  it('are repaired as any others', async () => {
    const result = await simulate(`  nodes: [{ pool: web, count: 9 }]
  config: "[featureGates]\\nnodeRepair = true"
  objects: [{ apiVersion: karpenter.sh/v1, kind: NodePool, metadata: { name: web }, spec: { repair: {} } }]
  steps:
    - { at: 5m, condition: { node: web-3, type: Ready, status: "False", reason: KubeletDown } }
  expect:
    - { at: 35m, write: { verb: delete, resource: nodeclaims, name: web-3 }, times: 1 }
    - { final: { resource: nodes, name: web-3, exists: false } }
    - { final: { instance: "aws:///us-west-2a/i-web-3", state: terminated } }
`);
    expect(complaints(result)).toEqual([]);
  });
});

describe('the step condition', () => {
  const node = (conditions: string): string =>
    `  objects: [{ apiVersion: v1, kind: Node, metadata: { name: n1 }, status: { conditions: ${conditions} } }]\n`;
  const READY =
    '{ type: Ready, status: "True", reason: KubeletReady, message: m, lastTransitionTime: "2024-11-01T12:00:00Z" }';

  it('moves the transition time when the status changes, and leaves other conditions alone', async () => {
    const result = await simulate(`${node(`[{ type: Other, status: "True" }, ${READY}]`)}  steps:
    - { at: 5m, condition: { node: n1, type: Ready, status: "False", reason: KubeletDown } }
  expect:
    - { final: { resource: nodes, name: n1, match: { status: { conditions: [{ type: Other, status: "True" }, { type: Ready, status: "False", reason: KubeletDown, lastTransitionTime: "2024-11-01T15:05:00Z" }] } }, absent: ["status.conditions[1].message"] } }
`);
    expect(complaints(result)).toEqual([]);
    expect(story(result, 'scenario')).toEqual([
      '15:05:00.000 scenario condition Ready=False (KubeletDown) of nodes n1',
    ]);
  });

  it('keeps the transition time, and what it does not state, while the status stays', async () => {
    const result = await simulate(`${node(`[${READY}]`)}  steps:
    - { at: 5m, condition: { node: n1, type: Ready, status: "True", message: new } }
  expect:
    - { final: { resource: nodes, name: n1, match: { status: { conditions: [{ type: Ready, reason: KubeletReady, message: new, lastTransitionTime: "2024-11-01T12:00:00Z" }] } } } }
`);
    expect(complaints(result)).toEqual([]);
  });

  it('adds a condition that is not there', async () => {
    const result = await simulate(`${node('[]')}  steps:
    - { at: 5m, condition: { node: n1, type: DiskSlow, status: "True" } }
  expect:
    - { final: { resource: nodes, name: n1, match: { status: { conditions: [{ type: DiskSlow, status: "True", lastTransitionTime: "2024-11-01T15:05:00Z" }] } } } }
`);
    expect(complaints(result)).toEqual([]);
  });

  it('has no effect on a Node that is not there', async () => {
    const result = await simulate('  steps: [{ at: 5m, condition: { node: n1, type: Ready, status: "True" } }]\n');
    expect(story(result, 'scenario')[0]).toContain('(no effect: it does not exist)');
  });
});
