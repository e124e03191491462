/**
 * The STATUS, READY and RESTARTS of a pod as `kubectl get pods` shows them: what the containers report wins over the phase,
 * and a deletion over both. Rules: the pod printer of kube-apiserver 1.36.
 */
import type { KubernetesObject } from '../../kubernetes-object.ts';
import { isObject } from '../../json.ts';
import { listAt, numberAt, objectAt, textAt } from '../json-fields.ts';
import { ageOf } from './age.ts';

export interface PodSummary {
  readonly ready: string;
  readonly status: string;
  readonly restarts: string;
}

interface Progress {
  reason: string;
  ready: number;
  restarts: number;
  /** RFC 3339 text of the latest restart, `''` for none. */
  lastRestart: string;
}

function terminatedReason(terminated: unknown, prefix: string): string {
  const reason = textAt(terminated, 'reason');
  if (reason !== '') return prefix + reason;
  const signal = numberAt(terminated, 'signal');
  return signal === 0 ? `${prefix}ExitCode:${numberAt(terminated, 'exitCode')}` : `${prefix}Signal:${signal}`;
}

function countRestarts(progress: Progress, container: unknown): void {
  progress.restarts += numberAt(container, 'restartCount');
  const finished = textAt(container, 'lastState', 'terminated', 'finishedAt');
  if (finished > progress.lastRestart) progress.lastRestart = finished;
}

function conditionIsTrue(pod: KubernetesObject, type: string): boolean {
  return listAt(pod.status, 'conditions').some(
    condition => textAt(condition, 'type') === type && textAt(condition, 'status') === 'True',
  );
}

/** Why an init container holds the pod back, or undefined when it does not. */
function initReason(container: unknown, sidecar: boolean, position: string): string | undefined {
  const terminated = objectAt(container, 'state')['terminated'];
  if (isObject(terminated)) {
    return numberAt(terminated, 'exitCode') === 0 ? undefined : terminatedReason(terminated, 'Init:');
  }
  if (sidecar && objectAt(container)['started'] === true) return undefined;
  const waiting = textAt(container, 'state', 'waiting', 'reason');
  return waiting !== '' && waiting !== 'PodInitializing' ? `Init:${waiting}` : `Init:${position}`;
}

/** Goes through the init containers up to the one that holds the pod back. True when one does. */
function readInitContainers(
  pod: KubernetesObject,
  sidecars: ReadonlySet<string>,
  all: Progress,
  ofSidecars: Progress,
): boolean {
  const total = listAt(pod.spec, 'initContainers').length;
  for (const [index, container] of listAt(pod.status, 'initContainerStatuses').entries()) {
    const sidecar = sidecars.has(textAt(container, 'name'));
    countRestarts(all, container);
    if (sidecar) countRestarts(ofSidecars, container);
    const reason = initReason(container, sidecar, `${index}/${total}`);
    if (reason !== undefined) {
      all.reason = reason;
      return true;
    }
    if (sidecar && objectAt(container)['started'] === true && objectAt(container)['ready'] === true) all.ready += 1;
  }
  return false;
}

function readContainers(pod: KubernetesObject, progress: Progress): void {
  let running = false;
  let errorReason = '';
  for (const container of listAt(pod.status, 'containerStatuses').toReversed()) {
    countRestarts(progress, container);
    const state = objectAt(container, 'state');
    const waiting = textAt(state, 'waiting', 'reason');
    const terminated = state['terminated'];
    if (waiting !== '') {
      progress.reason = waiting;
    } else if (isObject(terminated)) {
      progress.reason = terminatedReason(terminated, '');
      if (numberAt(terminated, 'exitCode') !== 0) errorReason = progress.reason;
    } else if (objectAt(container)['ready'] === true && isObject(state['running'])) {
      running = true;
      progress.ready += 1;
    }
  }
  if (progress.reason !== 'Completed') return;
  if (running && conditionIsTrue(pod, 'Ready')) progress.reason = 'Running';
  else if (errorReason !== '') progress.reason = errorReason;
  else if (running) progress.reason = 'NotReady';
}

/** Summary of a pod at `now` (epoch ms). */
export function summarizePod(pod: KubernetesObject, now: number): PodSummary {
  const phase = textAt(pod.status, 'phase');
  const gated = listAt(pod.status, 'conditions').some(
    each => textAt(each, 'type') === 'PodScheduled' && textAt(each, 'reason') === 'SchedulingGated',
  );
  const start = gated ? 'SchedulingGated' : textAt(pod.status, 'reason') || phase;
  const sidecars = new Set(
    listAt(pod.spec, 'initContainers')
      .filter(container => textAt(container, 'restartPolicy') === 'Always')
      .map(container => textAt(container, 'name')),
  );
  const progress: Progress = { reason: start, ready: 0, restarts: 0, lastRestart: '' };
  const ofSidecars: Progress = { reason: start, ready: 0, restarts: 0, lastRestart: '' };
  const initializing = readInitContainers(pod, sidecars, progress, ofSidecars);
  if (!initializing || conditionIsTrue(pod, 'Initialized')) {
    progress.restarts = ofSidecars.restarts;
    progress.lastRestart = ofSidecars.lastRestart;
    readContainers(pod, progress);
  }
  if (pod.metadata.deletionTimestamp !== undefined) {
    if (textAt(pod.status, 'reason') === 'NodeLost') progress.reason = 'Unknown';
    else if (phase !== 'Succeeded' && phase !== 'Failed') progress.reason = 'Terminating';
  }
  const total = listAt(pod.spec, 'containers').length + sidecars.size;
  const since =
    progress.restarts > 0 && progress.lastRestart !== '' ? ` (${ageOf(progress.lastRestart, now)} ago)` : '';
  return { ready: `${progress.ready}/${total}`, status: progress.reason, restarts: `${progress.restarts}${since}` };
}
