/** `kubectl get` of deployments, replicasets, statefulsets, daemonsets, jobs and cronjobs. */
import type { KubernetesObject } from '../../kubernetes-object.ts';
import { listAt, numberAt, objectAt, textAt } from '../json-fields.ts';
import { ageOf, humanDuration } from './age.ts';
import { ageColumn, column, nameColumn, pairsOf, selectorColumn, templateColumns, type Column } from './columns.ts';

function fromSpec(name: string, description: string, field: string): Column {
  return column(name, description, object => numberAt(object.spec, field), 'integer');
}

function fromStatus(name: string, description: string, field: string): Column {
  return column(name, description, object => numberAt(object.status, field), 'integer');
}

/** `spec.replicas` defaults to 1. */
function desiredReplicas(object: KubernetesObject): number {
  return typeof objectAt(object.spec)['replicas'] === 'number' ? numberAt(object.spec, 'replicas') : 1;
}

const readyOfDesired = column(
  'Ready',
  'Ready pods of those wanted.',
  object => `${numberAt(object.status, 'readyReplicas')}/${desiredReplicas(object)}`,
);

export const deploymentColumns: readonly Column[] = [
  nameColumn,
  readyOfDesired,
  fromStatus('Up-to-date', 'Pods with the current template.', 'updatedReplicas'),
  fromStatus('Available', 'Pods available for long enough.', 'availableReplicas'),
  ageColumn,
  ...templateColumns,
  selectorColumn,
];

export const replicaSetColumns: readonly Column[] = [
  nameColumn,
  column('Desired', 'Pods wanted.', desiredReplicas, 'integer'),
  fromStatus('Current', 'Pods that exist.', 'replicas'),
  fromStatus('Ready', 'Pods that are ready.', 'readyReplicas'),
  ageColumn,
  ...templateColumns,
  selectorColumn,
];

export const statefulSetColumns: readonly Column[] = [nameColumn, readyOfDesired, ageColumn, ...templateColumns];

export const daemonSetColumns: readonly Column[] = [
  nameColumn,
  fromStatus('Desired', 'Nodes that take a pod.', 'desiredNumberScheduled'),
  fromStatus('Current', 'Nodes that have one.', 'currentNumberScheduled'),
  fromStatus('Ready', 'Pods that are ready.', 'numberReady'),
  fromStatus('Up-to-date', 'Pods with the current template.', 'updatedNumberScheduled'),
  fromStatus('Available', 'Pods available for long enough.', 'numberAvailable'),
  column('Node Selector', 'Nodes that the set wants.', object =>
    pairsOf(objectAt(object.spec, 'template', 'spec', 'nodeSelector')),
  ),
  ageColumn,
  ...templateColumns,
  selectorColumn,
];

function jobStatus(job: KubernetesObject): string {
  const holds = (type: string): boolean =>
    listAt(job.status, 'conditions').some(each => textAt(each, 'type') === type && textAt(each, 'status') === 'True');
  if (holds('Complete')) return 'Complete';
  if (holds('Failed')) return 'Failed';
  if (job.metadata.deletionTimestamp !== undefined) return 'Terminating';
  if (holds('Suspended')) return 'Suspended';
  if (holds('FailureTarget')) return 'FailureTarget';
  return holds('SuccessCriteriaMet') ? 'SuccessCriteriaMet' : 'Running';
}

function jobCompletions(job: KubernetesObject): string {
  const succeeded = numberAt(job.status, 'succeeded');
  const completions = objectAt(job.spec)['completions'];
  if (typeof completions === 'number') return `${succeeded}/${completions}`;
  const parallelism = numberAt(job.spec, 'parallelism');
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function jobDuration(job: KubernetesObject, now: number): string {
  const start = Date.parse(textAt(job.status, 'startTime'));
  if (Number.isNaN(start)) return '';
  const end = Date.parse(textAt(job.status, 'completionTime'));
  return humanDuration((Number.isNaN(end) ? now : end) - start);
}

export const jobColumns: readonly Column[] = [
  nameColumn,
  column('Status', 'State of the job.', jobStatus),
  column('Completions', 'Pods that have succeeded of those wanted.', jobCompletions),
  column('Duration', 'How long the job has run or ran.', jobDuration),
  ageColumn,
  ...templateColumns,
  selectorColumn,
];

export const cronJobColumns: readonly Column[] = [
  nameColumn,
  column('Schedule', 'When the job runs, in cron syntax.', object => textAt(object.spec, 'schedule')),
  column('Timezone', 'Time zone of the schedule.', object => textAt(object.spec, 'timeZone') || '<none>'),
  column('Suspend', 'Whether runs are suspended.', object => objectAt(object.spec)['suspend'] === true, 'boolean'),
  column('Active', 'Jobs that run now.', object => listAt(object.status, 'active').length, 'integer'),
  column('Last Schedule', 'Time since the last run started.', (object, now) => {
    const last = textAt(object.status, 'lastScheduleTime');
    return last === '' ? '<none>' : ageOf(last, now);
  }),
  ageColumn,
];

export const replicationControllerColumns: readonly Column[] = [
  nameColumn,
  fromSpec('Desired', 'Pods wanted.', 'replicas'),
  fromStatus('Current', 'Pods that exist.', 'replicas'),
  fromStatus('Ready', 'Pods that are ready.', 'readyReplicas'),
  ageColumn,
];
