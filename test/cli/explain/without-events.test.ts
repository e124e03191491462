/** What `curfew explain` says of a node once the API server has forgotten the Events about it. */
import { expect, it } from 'vitest';
import { explain } from '../../../cli/explain.ts';
import { onScenario } from '../../../cli/explain/on-scenario.ts';
import type { KubernetesApi } from '../../../shared/ports/kubernetes-api.ts';

const withoutEvents = (kubernetes: KubernetesApi): KubernetesApi => ({
  ...kubernetes,
  list: (type, query) =>
    kubernetes.list(type, type.resource === 'events' ? { fieldSelector: 'involvedObject.name=nobody' } : query),
});

it.each([
  ['12m', /^repair: due at 2024-11-01T15:15:00Z \(in 3m0s\), by spec.repair.policies of NodePool gpu: /],
  [
    '6h',
    /^repair: due since 2024-11-01T15:15:00Z \(5h45m0s ago\), .*; held: 1 of 5 nodes of NodePool gpu are unhealthy/,
  ],
])('counts an entry with a reason from the transition (%s)', async (at, expected) => {
  const file = 'test/cli/explain/without-events.yaml';
  const text = await onScenario(file, at, cluster =>
    explain({ ...cluster, kubernetes: withoutEvents(cluster.kubernetes) }, { kind: 'node', name: 'gpu-0' }, false),
  );
  expect((text ?? '').split('\n').map(line => line.trim())).toContainEqual(expect.stringMatching(expected));
});
