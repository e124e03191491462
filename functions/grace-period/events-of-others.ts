/**
 * What Karpenter ≥ 1.12 has said by itself about protections that ended, where it happened to look at the pod: one such Event is
 * enough. The API server reads all Events of a namespace for such a list, so when many protections end at once it is made once for
 * all of them and not for each node.
 */
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { addDuration, isDue, parseTimestamp, seconds, type EpochMs } from '../../shared/domain/time.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import type { Announcement } from './announcements.ts';
import { setNewest } from './set-newest.ts';
import { objectsOf } from '../../shared/ports/read-answer.ts';

/** A list counts for so long, and only for protections that had ended when it was made. */
export const LIST_COUNTS_FOR = seconds(10);
/** Namespaces whose lists are kept. */
const KEPT_MAX = 100;

export interface EventsOfOthers {
  /** Those of the announcements that Karpenter has made already, since the end that they are about. */
  saidOf(announcements: readonly Announcement[]): Promise<ReadonlySet<Announcement>>;
}

/** When Karpenter last said it, by UID of the pod. */
interface Listed {
  readonly time: EpochMs;
  readonly said: ReadonlyMap<string, EpochMs>;
}

/** Keeps one list per namespace, of `KEPT_MAX` namespaces, for `LIST_COUNTS_FOR`. */
export function createEventsOfOthers({
  kubernetes,
  clock,
}: Pick<FunctionDeps, 'kubernetes' | 'clock'>): EventsOfOthers {
  const kept = new Map<string, Listed>();

  async function listed(namespace: string, end: EpochMs): Promise<Listed> {
    const now = clock.now();
    const before = kept.get(namespace);
    if (before !== undefined && isDue(before.time, end) && !isDue(now, addDuration(before.time, LIST_COUNTS_FOR))) {
      return before;
    }
    // Without the source each run would read all that the others have said in the namespace.
    const fieldSelector = `reason=${EVENT_REASONS.protectionElapsed},source=karpenter`;
    const events = objectsOf(await kubernetes.list(RESOURCES.Event, { namespace, fieldSelector }), {
      notServed: 'notKnown',
    });
    const made = { time: now, said: lastTimes(events) };
    setNewest(kept, namespace, made, KEPT_MAX);
    return made;
  }

  return {
    async saidOf(announcements) {
      const said = new Set<Announcement>();
      const ended = announcements.flatMap(each => {
        const end = each.topic === 'elapsed' && each.about.kind === 'Pod' ? parseTimestamp(each.key) : undefined;
        return end === undefined ? [] : [{ each, end }];
      });
      // The latest end first: its list counts for the others of its namespace, too.
      for (const { each, end } of ended.toSorted((a, b) => b.end - a.end)) {
        if (each.about.kind !== 'Pod') continue;
        const { said: times } = await listed(each.about.namespace, end);
        const time = times.get(each.about.uid);
        if (time !== undefined && isDue(time, end)) said.add(each);
      }
      return said;
    },
  };
}

function lastTimes(events: readonly KubernetesObject[]): ReadonlyMap<string, EpochMs> {
  const times = new Map<string, EpochMs>();
  for (const event of events) {
    const uid = uidOf(event['involvedObject']);
    const last = event['lastTimestamp'];
    const time = typeof last === 'string' ? parseTimestamp(last) : undefined;
    if (uid === undefined || time === undefined) continue;
    const before = times.get(uid);
    if (before === undefined || time > before) times.set(uid, time);
  }
  return times;
}

function uidOf(about: unknown): string | undefined {
  if (typeof about !== 'object' || about === null || !('uid' in about)) return undefined;
  return typeof about.uid === 'string' ? about.uid : undefined;
}
