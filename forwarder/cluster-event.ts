import { CLUSTER_EVENT_VERSION, type ClusterEvent } from '../shared/contract/cluster-event.ts';
import { toIsoText } from '../shared/domain/time.ts';
import type { ObjectChange } from './tracker.ts';

/** The event that goes to the bus for a change. */
export function toClusterEvent(change: ObjectChange, cluster: string): ClusterEvent {
  const { subject, resourceVersion, hints } = change;
  return {
    schemaVersion: CLUSTER_EVENT_VERSION,
    cluster,
    change: change.change,
    subject,
    resourceVersion,
    changed: [...change.changed],
    hints,
    groupKey: hints.nodeName ?? subject.uid,
    // An object is deleted once, whatever the version in which that was noticed.
    eventKey:
      change.change === 'Deleted' ? `${subject.uid}:Deleted` : `${subject.uid}:${resourceVersion}:${change.change}`,
    observedTime: toIsoText(change.observedTime),
  };
}
