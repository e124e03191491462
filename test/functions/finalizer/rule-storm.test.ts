import { describe, expect, it } from 'vitest';
import { parseScenarios } from '../../../simulator/scenario/parse.ts';
import { runScenario } from '../../../simulator/run.ts';
import { clusterCatalog } from '../../../simulator/world.ts';

const OBJECTS = 100;
const DELETION = 10;
const END = 60;

/** All of one kind, with a clean-up that fails, deleted at once. */
const STORM = `
apiVersion: curfew.dev/v1alpha1
kind: Scenario
metadata: { name: storm }
spec:
  start: "2024-11-01T15:00:00Z"
  duration: ${END}s
  actors: []
  objects:
    - apiVersion: apiextensions.k8s.io/v1
      kind: CustomResourceDefinition
      metadata: { name: queues.example.com }
      spec:
        group: example.com
        scope: Cluster
        names: { plural: queues, singular: queue, kind: Queue, listKind: QueueList }
        versions: [{ name: v1, served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } } }]
    - apiVersion: curfew.dev/v1alpha1
      kind: FinalizerRule
      metadata: { name: queues }
      spec: { group: example.com, version: v1, kind: Queue, finalizerName: example.com/cleanup, cleanup: { lambda: { functionName: f } } }
${Array.from({ length: OBJECTS }, (_, n) => `    - { apiVersion: example.com/v1, kind: Queue, metadata: { name: q${n} } }`).join('\n')}
  steps:
    - { at: 1s, cleanup: { rule: queues, result: fail, message: access denied } }
${Array.from({ length: OBJECTS }, (_, n) => `    - { at: ${DELETION}s, delete: { resource: queues, name: q${n} } }`).join('\n')}
  expect: []
`;

describe('many objects of one rule whose clean-up fails', () => {
  it('cost what their rule may call: 20 at once, then five a second, whatever their number', async () => {
    const parsed = parseScenarios(STORM, 'storm.yaml', clusterCatalog());
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
    const [scenario] = parsed.scenarios;
    if (scenario === undefined) throw new Error('no scenario');
    const { trace, violations, scenario: ran } = await runScenario(scenario);
    expect(violations).toEqual([]);
    const calls = trace.filter(({ line }) => line['verb'] === 'invoke').map(({ time }) => time - ran.start);
    // Each of them alone would have been called four times by now.
    expect(calls.length).toBeGreaterThan(OBJECTS);
    expect(calls.length).toBeLessThanOrEqual(21 + 5 * (END - DELETION));
    const perSecond = Map.groupBy(calls, time => Math.floor(time / 1000));
    for (const [second, group] of perSecond) {
      expect(group.length).toBeLessThanOrEqual(second <= DELETION ? 21 + 5 : 6);
    }
  });
});
