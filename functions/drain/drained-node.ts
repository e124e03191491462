/** Reads a Node for the rule of drains, NVSentinel's annotation among it: the HealthEvents that keep it quarantined. */
import { isWatchedFor } from '../../shared/cluster/pod-watchers.ts';
import { parseHealthEvent } from '../../shared/contract/health-event.ts';
import { ANNOTATIONS, NVSENTINEL } from '../../shared/contract/names.ts';
import { isJsonObject, readJson } from '../../shared/domain/json.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { kubeletSilentSince, readConditions } from '../../shared/domain/node.ts';
import { faultOf } from './rule/faults.ts';
import { readAnswer, requestedId } from './rule/node-annotations.ts';
import { readShownDrain } from './node.ts';
import { OWNER, type DrainRecord } from './record.ts';
import type { DrainedNode } from './rule/observation.ts';
import type { NodeFault } from './request-record.ts';

/** Ids of the HealthEvents in the annotation; entries without an id are left out. */
function quarantineIds(text: string): readonly string[] | 'unreadable' {
  const value = readJson(text);
  if (!Array.isArray(value)) return 'unreadable';
  return (value as readonly unknown[]).flatMap(each => {
    const id = typeof each === 'object' && each !== null && 'id' in each ? each.id : undefined;
    return typeof id === 'string' && id !== '' ? [id] : [];
  });
}

/** Most entries that are read: more than a node has checks. */
const MAX_ENTRIES = 1000;

/** The faults that the annotation lists. Never throws. */
export function listedFaults(text: string | undefined): readonly NodeFault[] {
  const entries = readJson(text);
  if (!Array.isArray(entries)) return [];
  return entries.slice(0, MAX_ENTRIES).flatMap((entry: unknown) => {
    const read = isJsonObject(entry) ? parseHealthEvent({ nodeName: 'any', id: 'any', ...entry }) : undefined;
    return read?.ok === true ? [faultOf(read.value.event)] : [];
  });
}

/** The fields of a Node that the rule reads. */
export function toDrainedNode(
  object: KubernetesObject,
  { uncordonedMark }: Pick<DrainRecord, 'uncordonedMark'>,
): DrainedNode {
  const { metadata, spec, status } = object;
  const conditions = readConditions(status?.['conditions']);
  const annotations = metadata.annotations ?? {};
  const mark = annotations[ANNOTATIONS.cordonedByDrain];
  const text = annotations[NVSENTINEL.quarantineAnnotation];
  return {
    name: metadata.name,
    uid: metadata.uid,
    kubeletSilentSince: kubeletSilentSince(conditions),
    shownDrain: readShownDrain(conditions),
    labels: metadata.labels ?? {},
    unschedulable: spec?.['unschedulable'] === true,
    cordonMark: mark === uncordonedMark ? undefined : mark,
    uncordonedMark: mark === uncordonedMark ? mark : undefined,
    isCordonedByRepair: annotations[ANNOTATIONS.cordonedByRepair] !== undefined,
    quarantine: text === undefined || text === '' ? undefined : quarantineIds(text),
    quarantineFaults: () => listedFaults(text),
    isReleased: NVSENTINEL.releasedAnnotations.some(name => annotations[name]?.toLowerCase() === 'true'),
    underWay: annotations[ANNOTATIONS.drainUnderWay],
    requestedId: requestedId(annotations[ANNOTATIONS.drainRequested]),
    answer: readAnswer(annotations[ANNOTATIONS.drainAnswer]),
    isWatched: isWatchedFor(object, OWNER),
  };
}
