import { describe, expect, it } from 'vitest';
import { createReconciler } from '../../../../functions/finalizer/route.ts';
import type { ReconcilerFactory } from '../../../../runtime/functions.ts';
import { runScenario } from '../../../../simulator/run.ts';
import type { Scenario } from '../../../../simulator/scenario/scenario.ts';
import { scenarioOf } from '../../../builders/scenario.ts';

const OBJECTS = 1000;
const END = 20;
/** Timers of the rounds' own record. */
const ROUNDS = 1;

/** All of one kind, held, and being deleted, with a clean-up that fails. */
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
  steps:
    - { at: 0s, cleanup: { rule: queues, result: fail, message: access denied } }
  expect: []
`;

const OBJECT = { apiVersion: 'example.com/v1', kind: 'Queue' };
const METADATA = { finalizers: ['example.com/cleanup'], deletionTimestamp: '2024-11-01T14:59:59Z' };

function stormScenario(): Scenario {
  const scenario = scenarioOf(STORM);
  const queues = Array.from({ length: OBJECTS }, (_, n) => {
    const name = `q${n}`;
    const body = { ...OBJECT, metadata: { ...METADATA, name } };
    return {
      manifest: { ...OBJECT, namespace: undefined, name, body },
      place: { file: 'storm.yaml', line: 1, path: name },
    };
  });
  return { ...scenario, objects: [...scenario.objects, ...queues] };
}

describe('a thousand objects of one rule whose clean-up fails', () => {
  it('cost what their rule may call: 20 at once, then five a second, and two runs for each call', async () => {
    let runs = 0;
    const counted: ReconcilerFactory = deps => {
      const reconcile = createReconciler(deps);
      return message => {
        if (message.kind === 'wakeUp') runs += 1;
        return reconcile(message);
      };
    };
    const {
      trace,
      violations,
      scenario: ran,
    } = await runScenario(stormScenario(), { reconcilers: { finalizer: counted } });
    expect(violations).toEqual([]);
    const calls = trace.filter(({ line }) => line['verb'] === 'invoke').map(({ time }) => time - ran.start);
    expect(calls.length).toBeGreaterThanOrEqual(5 * END);
    expect(calls.length).toBeLessThanOrEqual(21 + 5 * END);
    const perSecond = Map.groupBy(calls, time => Math.floor(time / 1000));
    for (const [second, group] of perSecond) expect(group.length).toBeLessThanOrEqual(second === 0 ? 21 + 5 : 6);
    // The round that the rule begins wakes each object once; from then on their own timers do.
    expect(runs).toBeLessThanOrEqual(OBJECTS + 2 * calls.length + ROUNDS);
    // Its own status write wakes no object, and is made once.
    const written = trace.filter(({ line }) => line['subresource'] === 'status' && line['resource'] === 'queues');
    expect(written.length).toBe(new Set(written.map(({ line }) => line['name'])).size);
  });
});
