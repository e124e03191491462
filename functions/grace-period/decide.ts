/**
 * The rule of grace periods (docs/do-not-disrupt.md; I2, I7). While a node has a protection that Karpenter does not see by itself, it
 * carries `karpenter.sh/do-not-disrupt: "true"` with our mark next to it. Each pod gets an Event at its own expiry; the last one releases
 * the node. Pure: no I/O, no clock.
 *
 * | question | function | in | asked by |
 * |---|---|---|---|
 * | what the node and its pods need now | `decide` | `decide.ts` | `reconcile.ts` |
 * | which pods are annotated, and how each is protected | `annotatedPods` | `rule/announcements.ts` | `observe.ts`, `report.ts` |
 * | how long the next try waits if somebody undid the change | `effortAfter` | `rule/node-change.ts` | `apply.ts` |
 */
import {
  type AnnotatedNode,
  changeOf,
  isElapsed,
  type NodeChange,
  protectedUntil,
  retryTimeOf,
} from './rule/node-change.ts';
import type { GracePeriodRecord } from './record.ts';
import type { PodView } from '../../shared/domain/pod.ts';
import { isActive, type ProtectionPolicy } from '../../shared/domain/protection.ts';
import { retryNotBefore } from '../../shared/domain/refusal.ts';
import {
  addDuration,
  earliest,
  type EpochMs,
  hours,
  latest,
  parseTimestamp,
  seconds,
} from '../../shared/domain/time.ts';
import {
  annotatedPods,
  type Announcement,
  announcementsFor,
  nextInstant,
  type ObservedProtection,
  quotedValue,
  withAnnouncements,
} from './rule/announcements.ts';

/** Time within which ends of protections are said together, at the last of them: a node costs one look a second. */
const REPORTED_TOGETHER_WITHIN = seconds(1);
/** Most objects that one run records Events about; the others have a run of their own. */
export const MAX_OBJECTS_PER_RUN = 25;
/** Time between looks at a node with annotated pods and nothing due, so that none is ever forgotten (I5). */
export const IDLE_CHECK = hours(24);

export interface GracePeriodObservation {
  readonly now: EpochMs;
  readonly node: AnnotatedNode;
  /** All pods on the node. */
  readonly pods: readonly PodView[];
  readonly policy: ProtectionPolicy;
  readonly policyName: string | undefined;
  /** Protection by a block that is only observed. */
  readonly observedProtection: ObservedProtection | undefined;
  readonly record: GracePeriodRecord;
  /** Hash of what a change of the Node rests on. */
  readonly basis: string;
}

/** The content of a record, and when to look again. */
export interface RecordWrite {
  readonly record: GracePeriodRecord;
  readonly wakeTime: EpochMs;
}

/** The numbers that a decision rests on. */
export interface ProtectionCounts {
  readonly protectedPods: number;
  readonly elapsedPods: number;
  readonly nextExpiry: EpochMs | undefined;
}

export type GracePeriodDecision =
  /** No annotated pod is left: the Node is released, then the record is deleted. */
  | { readonly kind: 'close'; readonly node: NodeChange; readonly counts: ProtectionCounts }
  | {
      readonly kind: 'keep';
      readonly node: NodeChange;
      /** Announcements to be made now, each once. */
      readonly announcements: readonly Announcement[];
      /** The record to be written before anything is done. */
      readonly intent: RecordWrite;
      /** The record to be written when all is done. */
      readonly outcome: RecordWrite;
      readonly counts: ProtectionCounts;
    };

/**
 * Decides about a node. Several pods of one node are one decision: the Node is held until the latest expiry, and each pod's own expiry is
 * announced once.
 */
export function decide(observation: GracePeriodObservation): GracePeriodDecision {
  const { now, node, policy, policyName, basis, record } = observation;
  const annotated = annotatedPods(observation.pods, policy);
  const until = protectedUntil(annotated, now);
  const wanted = changeOf(observation, until, annotated);
  const retryTime =
    retryNotBefore(record.refusals?.[wanted.kind], { basis, now }) ?? retryTimeOf(wanted, record.effort, now);
  const change: NodeChange = retryTime === undefined ? wanted : { kind: 'leave' };
  const active = annotated.filter(({ protection }) => isActive(protection, now));
  const counts: ProtectionCounts = {
    protectedPods: active.length,
    elapsedPods: annotated.filter(pod => isElapsed(pod, now)).length,
    nextExpiry: active
      .map(({ protection }) => (protection.kind === 'until' ? protection.expiry : undefined))
      .reduce(earliest, undefined),
  };
  if (annotated.length === 0 && retryTime === undefined) return { kind: 'close', node: change, counts };

  const { effort, refusals } = record;
  const allAnnouncements = [
    ...aboutNode(observation, until),
    ...annotated.flatMap(pod =>
      announcementsFor(pod, { policy, policyName, observed: observation.observedProtection, now }),
    ),
  ];
  const unreported = allAnnouncements.filter(each => !isAnnounced(each, record.announcedKeys));
  const reportedUids = new Set([...new Set(unreported.map(({ about }) => about.uid))].slice(0, MAX_OBJECTS_PER_RUN));
  const announcements = unreported.filter(({ about }) => reportedUids.has(about.uid));

  const instants = annotated.flatMap(pod => nextInstant(pod, policy, now) ?? []);
  const next = earliest(earliest(addDuration(now, IDLE_CHECK), endOfFirstGroup(instants)), retryTime);
  // Pods that are gone are forgotten with the next write.
  const present = new Set([node.uid, ...annotated.map(({ pod }) => pod.uid)]);
  const remembered = Object.entries(record.announcedKeys).filter(([uid]) => present.has(uid));
  const announcedKeys = announcements.length > 0 ? Object.fromEntries(remembered) : record.announcedKeys;
  const kept = { announcedKeys, ...(effort !== undefined && { effort }), ...(refusals !== undefined && { refusals }) };
  // The timer stays due until everything is said, so that the sweep makes up for a run that dies.
  const intent: RecordWrite = { record: kept, wakeTime: announcements.length > 0 ? now : next };
  const outcome: RecordWrite = {
    record: { ...kept, announcedKeys: withAnnouncements(announcedKeys, announcements) },
    wakeTime: announcements.length < unreported.length ? now : next,
  };
  return { kind: 'keep', node: change, announcements, intent, outcome, counts };
}

/** The end of the group that the first instant begins: pods that end shortly after one another are all due by then. */
function endOfFirstGroup(instants: readonly EpochMs[]): EpochMs | undefined {
  const first = instants.reduce(earliest, undefined);
  if (first === undefined) return undefined;
  const end = addDuration(first, REPORTED_TOGETHER_WITHIN);
  return instants.filter(instant => instant < end).reduce((a, b) => latest(a, b), first);
}

/** Whether it was announced. That a protection has ended earlier than was said, as other settings have it, is no news. */
function isAnnounced({ about, topic, key }: Announcement, announcedKeys: GracePeriodRecord['announcedKeys']): boolean {
  const announcedKey = announcedKeys[about.uid]?.[topic];
  if (announcedKey === key) return true;
  if (announcedKey === undefined || topic !== 'elapsed') return false;
  const [end, announcedEnd] = [parseTimestamp(key), parseTimestamp(announcedKey)];
  return end !== undefined && announcedEnd !== undefined && end <= announcedEnd;
}

/** Announcements about the node itself. */
function aboutNode({ node }: GracePeriodObservation, until: string | undefined): readonly Announcement[] {
  const { doNotDisrupt, name, uid } = node;
  const about = { kind: 'Node', name, uid } as const;
  if (until === undefined) return [];
  if (doNotDisrupt !== undefined && doNotDisrupt !== 'true') {
    const message = `karpenter.sh/do-not-disrupt: ${quotedValue(doNotDisrupt)} on the node is not Curfew's and is left alone: Karpenter may disrupt pods that are protected ${spanOf(until)}`;
    return [{ topic: 'notOurs', key: quotedValue(doNotDisrupt), message, about }];
  }
  return [];
}

/** Words for the time of a protection. @param until as in `NodeChange` */
const spanOf = (until: string): string => (until === 'indefinite' ? 'without end' : `until ${until}`);
