/**
 * Pods that come back onto a node that is drained, because they tolerate the cordon or are bound past the scheduler: evicted ever later,
 * and after the third return as a DaemonSet's pod, which nobody waits for (I11). Pure.
 */
import type { PodView } from '../../shared/domain/pod.ts';
import { addDuration, minutes, seconds, type DurationMs, type EpochMs } from '../../shared/domain/time.ts';
import { CLOCKS_DIFFER, type ActiveDrain, type Return } from './model.ts';

/** From the third return on nobody waits for them. */
const RETURNS_EVICTED = 2;
/** How long after the return before, or after the pod's creation, they are evicted. */
const DELAYS: readonly DurationMs[] = [seconds(10), minutes(1)];
/** Pods of one controller that are evicted for one return. */
const EVICTED_AT_ONCE = 10;
/** The newest ones; a kubelet runs fewer pods. */
const MAX_RETURNS = 250;

type Known = Pick<PodView, 'uid' | 'name' | 'namespace' | 'ownerReferences' | 'creationTime'>;

/** From its start the node takes no new pods; `tried`: UIDs of pods that it has set out to end. */
type Drained = Pick<ActiveDrain, 'returns' | 'startTime' | 'tried'>;

/** What tells pods that come back apart from others. */
function returnKeyOf({ ownerReferences, namespace, name }: Known): string {
  return ownerReferences.find(({ controller }) => controller === true)?.uid ?? `${namespace}/${name}`;
}

export type Standing =
  /** It was there when the drain began, or was evicted for this return and is still there. */
  | { readonly kind: 'stays' }
  | { readonly kind: 'waits'; readonly until: EpochMs }
  | { readonly kind: 'due' }
  /** It has come back too often. */
  | { readonly kind: 'ignored' };

/** How the pods of a node stand, that an act is planned for. */
export function createReturns({ returns = [], startTime, tried = [] }: Drained, now: EpochMs) {
  const planned = new Map<string, number>();
  return (pod: Known): Standing => {
    const { creationTime } = pod;
    // Shortly after the cordon the scheduler may not know of it yet.
    const isLate = creationTime !== undefined && creationTime > addDuration(startTime, CLOCKS_DIFFER);
    if (!isLate || tried.includes(pod.uid)) return { kind: 'stays' };
    const key = returnKeyOf(pod);
    const before = returns.find(({ of }) => of === key);
    const times = before?.times ?? 0;
    if (times >= RETURNS_EVICTED) return { kind: 'ignored' };
    const until = addDuration(before?.time ?? creationTime, DELAYS[times] ?? minutes(1));
    if (until > now) return { kind: 'waits', until };
    const count = (planned.get(key) ?? 0) + 1;
    planned.set(key, count);
    return count <= EVICTED_AT_ONCE ? { kind: 'due' } : { kind: 'waits', until: addDuration(now, minutes(1)) };
  };
}

/** The returns with those of these pods, which are about to be evicted for it. */
export function withReturned(returns: readonly Return[], pods: readonly Known[], now: EpochMs): readonly Return[] {
  if (pods.length === 0) return returns;
  const keys = new Set(pods.map(returnKeyOf));
  const others = returns.filter(({ of }) => !keys.has(of));
  const next = [...keys].map(of => ({ of, times: (returns.find(each => each.of === of)?.times ?? 0) + 1, time: now }));
  return [...others, ...next].slice(-MAX_RETURNS);
}
