/** The form of a projection, and readers for the parts that several kinds have. Pure. */
import type { ClusterEvent } from '../shared/contract/cluster-event.ts';
import type { KubernetesObject } from '../shared/domain/kubernetes-object.ts';
import { canonicalText, listAt, pick, textAt } from './fields.ts';
import type { WatchedNodeNames } from './watched-nodes.ts';

/** Part name → value; undefined where the object has none. An object of one kind always has the same part names. */
export type ObjectParts = Readonly<Record<string, unknown>>;
export type Hints = ClusterEvent['hints'];
export interface Projection {
  readonly parts: ObjectParts;
  readonly hints: Hints;
}
export type Project = (object: KubernetesObject, interest?: PodInterest) => Projection;

/** The pods that matter beside those that carry the do-not-disrupt annotation. */
export interface PodInterest {
  readonly watchedNodes: WatchedNodeNames;
}

/** No `lastHeartbeatTime`, no `message`: they change without anything having happened. @param more fields that somebody reads of these */
export function conditions(
  object: KubernetesObject,
  isMeant: (type: string, reason: string) => boolean = () => true,
  more: readonly string[] = [],
): readonly unknown[] | undefined {
  return sortedList(
    meantConditions(object, isMeant).map(condition =>
      pick(condition, ['type', 'status', 'reason', 'lastTransitionTime', ...more]),
    ),
  );
}

/** The name of the part that `statuses` makes. */
export const STATUSES = 'statuses';

/** Status of each condition: its time and reason change without it. */
export function statuses(object: KubernetesObject, isMeant: (type: string, reason: string) => boolean) {
  return sortedList(meantConditions(object, isMeant).map(condition => pick(condition, ['type', 'status'])));
}

const meantConditions = (object: KubernetesObject, isMeant: (type: string, reason: string) => boolean) =>
  listAt(object, 'status', 'conditions').filter(condition =>
    isMeant(textAt(condition, 'type') ?? '', textAt(condition, 'reason') ?? ''),
  );

/** Sorted: a finalizer that moved is no change. */
export function finalizers(object: KubernetesObject): readonly unknown[] | undefined {
  return sortedList(object.metadata.finalizers ?? []);
}

/** In an order of its own, for lists whose order means nothing; undefined when empty. */
export function sortedList(values: readonly unknown[]): readonly unknown[] | undefined {
  if (values.length === 0) return undefined;
  return values
    .map(value => ({ value, text: canonicalText(value) }))
    .toSorted((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
    .map(({ value }) => value);
}

/** Longer than any real one: a hint must not make an entry too large for the bus, so such a value is left out. */
const HINT_LENGTH_MAX = 1024;

/** Without values that are absent or longer than `HINT_LENGTH_MAX` characters. */
export function hints(values: Readonly<Partial<Record<keyof Hints, string | undefined>>>): Hints {
  const kept = Object.entries(values).filter(([, value]) => value !== undefined && value.length <= HINT_LENGTH_MAX);
  return Object.fromEntries(kept);
}
