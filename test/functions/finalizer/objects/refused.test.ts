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
    - { apiVersion: example.com/v1, kind: Queue, metadata: { name: q1, finalizers: [example.com/cleanup] } }
  steps:
    - { at: 0s, cleanup: { rule: queues, result: succeed } }
    - { at: 10s, refuse: { verb: patch, resource: queues, name: q1, by: finalizer, status: 403, for: 3h } }
    - { at: 20s, delete: { resource: queues, name: q1 } }
  expect: []
`;

it('is written down as a refused change, and the object says that its end waits', async () => {
  const { trace } = await runScenario(scenarioOf(DENIED));
  const { changeRefused, finalizationError } = EVENT_REASONS;
  const told = trace.filter(({ line }) => line['reason'] === changeRefused || line['reason'] === finalizationError);
  expect(told.map(({ kind, line }) => [kind, line['reason'], line['type']])).toEqual([
    ['audit', changeRefused, undefined],
    ['event', finalizationError, 'Warning'],
  ]);
});
