/** An object of a rule whose release admission denies. */
import { expect, it } from 'vitest';
import { EVENT_REASONS } from '../../../../shared/contract/reasons.ts';
import { runScenario } from '../../../../simulator/run.ts';
import { scenarioOf } from '../../../builders/scenario.ts';

const DENIED = `
apiVersion: curfew.dev/v1alpha1
kind: Scenario
metadata: { name: denied }
spec:
  start: "2024-11-01T15:00:00Z"
  duration: 5m
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
  steps:
    - { at: 0s, cleanup: { rule: queues, result: succeed } }
STEPS
  expect: []
`;

const Q1 = '{ apiVersion: example.com/v1, kind: Queue, metadata: { name: q1 } }';

/** What the run says of refused changes: `audit` and `event` with reason and type. */
async function reportsOf(steps: readonly string[]): Promise<readonly (readonly unknown[])[]> {
  const text = DENIED.replace('STEPS', steps.map(step => `    - ${step}`).join('\n'));
  const { trace } = await runScenario(scenarioOf(text));
  const reasons: readonly unknown[] = [EVENT_REASONS.changeRefused, EVENT_REASONS.finalizationError];
  return trace
    .filter(({ line }) => reasons.includes(line['reason']))
    .map(({ kind, line }) => [kind, line['reason'], line['type']]);
}

const SAID_ONCE = [
  ['audit', EVENT_REASONS.changeRefused, undefined],
  ['event', EVENT_REASONS.finalizationError, 'Warning'],
];

it('is written down as a refused change, and the object says that its end waits', async () => {
  const told = await reportsOf([
    `{ at: 0s, apply: ${Q1} }`,
    '{ at: 10s, refuse: { verb: patch, resource: queues, name: q1, by: finalizer, status: 403, for: 3h } }',
    '{ at: 20s, delete: { resource: queues, name: q1 } }',
  ]);
  expect(told).toEqual(SAID_ONCE);
});

it('is reported once, also if the API server is busy between two denials of its finalizer', async () => {
  const refuse = (at: string, status: number, time: string): string =>
    `{ at: ${at}, refuse: { verb: patch, resource: queues, name: q1, by: finalizer, status: ${status}, for: ${time} } }`;
  const told = await reportsOf([
    refuse('0s', 422, '11s'),
    `{ at: 10s, apply: ${Q1} }`,
    refuse('11s', 429, '90s'),
    refuse('101s', 422, '3h'),
  ]);
  expect(told).toEqual(SAID_ONCE);
});
