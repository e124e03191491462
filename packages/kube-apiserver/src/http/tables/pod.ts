/** `kubectl get pods`, `kubectl get poddisruptionbudgets`. */
import type { KubernetesObject } from '../../kubernetes-object.ts';
import { listAt, numberAt, objectAt, textAt } from '../json-fields.ts';
import { ageColumn, column, nameColumn, orNone, wide, type Cell, type Column } from './columns.ts';
import { summarizePod } from './pod-status.ts';

function podIpOf(pod: KubernetesObject): string {
  return orNone(textAt(listAt(pod.status, 'podIPs')[0], 'ip') || textAt(pod.status, 'podIP'));
}

function readinessGatesOf(pod: KubernetesObject): string {
  const gates = listAt(pod.spec, 'readinessGates').map(gate => textAt(gate, 'conditionType'));
  if (gates.length === 0) return '<none>';
  const open = gates.filter(gate =>
    listAt(pod.status, 'conditions').some(
      condition => textAt(condition, 'type') === gate && textAt(condition, 'status') === 'True',
    ),
  );
  return `${open.length}/${gates.length}`;
}

export const podColumns: readonly Column[] = [
  nameColumn,
  column('Ready', 'Ready containers of all.', (pod, now) => summarizePod(pod, now).ready),
  column('Status', 'What the pod is doing.', (pod, now) => summarizePod(pod, now).status),
  column(
    'Restarts',
    'Restarts of its containers, and when the last one was.',
    (pod, now) => summarizePod(pod, now).restarts,
  ),
  ageColumn,
  wide('IP', 'Address of the pod.', podIpOf),
  wide('Node', 'Node that the pod is bound to.', pod => orNone(textAt(pod.spec, 'nodeName'))),
  wide('Nominated Node', 'Node that preemption makes room on.', pod => orNone(textAt(pod.status, 'nominatedNodeName'))),
  wide('Readiness Gates', 'Fulfilled readiness gates of all.', readinessGatesOf),
];

function intOrString(object: KubernetesObject, field: string): Cell {
  const value = objectAt(object.spec)[field];
  return typeof value === 'number' || typeof value === 'string' ? String(value) : 'N/A';
}

export const podDisruptionBudgetColumns: readonly Column[] = [
  nameColumn,
  column('Min Available', 'Pods that must stay available.', object => intOrString(object, 'minAvailable')),
  column('Max Unavailable', 'Pods that may be unavailable.', object => intOrString(object, 'maxUnavailable')),
  column(
    'Allowed Disruptions',
    'Pods that may be disrupted now.',
    object => numberAt(object.status, 'disruptionsAllowed'),
    'integer',
  ),
  ageColumn,
];
