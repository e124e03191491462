import {
  CLUSTER_EVENT_VERSION,
  VIRTUAL_PARTS,
  toBusEntry,
  type ClusterEvent,
  type KindWatch,
} from '../shared/contract/cluster-event.ts';
import type { BusEntry } from '../shared/contract/envelope.ts';
import { toIsoText } from '../shared/domain/time.ts';
import { STATUSES } from './projection.ts';
import { type ObjectChange, earliestTimeOf } from './tracker.ts';

/** The entry that goes to the bus for a change. `watchOf`: how the watch stands that an object asks for. */
export function toEntry(
  change: ObjectChange,
  cluster: string,
  watchOf: (uid: string) => KindWatch | undefined = () => undefined,
): BusEntry {
  return toBusEntry(toClusterEvent(change, cluster, watchOf(change.subject.uid)), change.detailType);
}

function toClusterEvent(change: ObjectChange, cluster: string, watch: KindWatch | undefined): ClusterEvent {
  const { subject, resourceVersion, hints, resync } = change;
  const changed = change.changed.filter(part => part !== STATUSES);
  // In a list of all that a new object has, the part says nothing.
  const saysStatus = subject.kind === 'Node' && change.change === 'Modified' && changed.includes('conditions');
  const observedTime = toIsoText(change.observedTime);
  return {
    schemaVersion: CLUSTER_EVENT_VERSION,
    cluster,
    change: change.change,
    subject,
    resourceVersion,
    changed,
    hints,
    groupKey: hints.nodeName ?? subject.uid,
    eventKey: eventKeyOf(change, observedTime),
    observedTime: toIsoText(earliestTimeOf(change)),
    ...(saysStatus && { statusChanged: change.changed.includes(STATUSES) }),
    ...(resync === true && { resync }),
    ...(watch !== undefined && change.change !== 'Deleted' && { watch }),
  };
}

/** A deletion is one fact, whatever the version in which it was noticed; each repeat is a fact of its own. */
function eventKeyOf(
  { change, subject: { uid }, resourceVersion, changed }: ObjectChange,
  observedTime: string,
): string {
  if (change === 'Deleted') return `${uid}:Deleted`;
  if (change === 'Modified' && isRepeat(changed)) return `${uid}:${resourceVersion}:${observedTime}`;
  return `${uid}:${resourceVersion}:${change}`;
}

/** Nothing that is in the object changed. */
const isRepeat = (changed: readonly string[]): boolean => changed.every(part => VIRTUAL_PARTS.has(part));
