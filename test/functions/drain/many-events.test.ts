/** More events on one node than a record holds whole: what stands is not forgotten (I12). */
import { describe, expect, it } from 'vitest';
import { runScenario } from '../../../simulator/run.ts';
import { scenarioOf } from '../../builders/scenario.ts';

const EVENTS = 150;
const eventAt = (second: number, detail: object): string =>
  `    - { at: ${second}s, busEvent: { source: nvsentinel, detail-type: HealthEvent, detail: ${JSON.stringify(detail)} } }`;
const many = (detailOf: (index: number) => object): string =>
  Array.from({ length: EVENTS }, (_, index) => eventAt(1000 + 5 * index, detailOf(index))).join('\n');
const podOn = (name: string): string =>
  `apply: { apiVersion: v1, kind: Pod, metadata: { namespace: ml, name: ${name} }, spec: { nodeName: n1 } }`;

const scenario = (node: string, steps: string): string => `
apiVersion: curfew.dev/v1alpha1
kind: Scenario
metadata: { name: many-events }
spec:
  start: "2024-11-01T15:00:00Z"
  duration: 2h
  actors: [kubelet]
  config: |
    [[userNamespaces]]
    name = "*"
    mode = "Immediate"
  objects:
    - { apiVersion: v1, kind: Node, metadata: { name: n1${node} } }
    - { apiVersion: v1, kind: Pod, metadata: { namespace: ml, name: a }, spec: { nodeName: n1 } }
  steps:
${steps}
  expect: []
`;

async function evictions(text: string): Promise<readonly unknown[]> {
  const { trace, violations } = await runScenario(scenarioOf(text));
  expect(violations).toEqual([]);
  return trace.filter(({ line }) => line['verb'] === 'evict').map(({ line }) => line['name']);
}

describe('after many events of the node', () => {
  it('a request on the Node that was answered drains nothing once more', async () => {
    const skipped = (index: number): object => ({ id: `s${index}`, nodeName: 'n1', drainOverrides: { skip: true } });
    const steps = `    - { at: 1m, patch: { resource: nodes, name: n1, merge: { metadata: { annotations: { curfew.dev/drain-requested: once } } } } }
    - { at: 10m, patch: { resource: nodes, name: n1, merge: { spec: { unschedulable: null } } } }
    - { at: 11m, ${podOn('b')} }
${many(skipped)}`;
    expect(await evictions(scenario('', steps))).toEqual(['a']);
  });

  it('a drain of the quarantine covers what comes', async () => {
    const event = (id: string, nodeQuarantined: string): object => ({
      id,
      nodeName: 'n1',
      checkName: id,
      healthEventStatus: { nodeQuarantined },
    });
    const steps = `${eventAt(60, event('e1', 'Quarantined'))}
    - { at: 5m, ${podOn('diagnose')} }
${many(index => event(`again-${index}`, 'AlreadyQuarantined'))}`;
    expect(await evictions(scenario(`, annotations: { quarantineHealthEvent: '[{"id":"e1"}]' }`, steps))).toEqual([
      'a',
    ]);
  });

  it('a message that comes again is answered again', async () => {
    const fatal = (id: string): object => ({ id, nodeName: 'n1', isFatal: true });
    const steps = `${eventAt(60, fatal('e1'))}
${many(index => fatal(`other-${index}`))}
    - { at: 40m, patch: { resource: nodes, name: n1, merge: { spec: { unschedulable: null } } } }
    - { at: 41m, ${podOn('b')} }
${eventAt(3000, fatal('e1'))}`;
    expect(await evictions(scenario('', steps))).toEqual(['a']);
  });
});
