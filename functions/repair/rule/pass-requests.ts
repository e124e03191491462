/** Requests for a pass, and what those of one pass come to together. Pure. */
import type { EndedDrain } from '../node/attempt-record.ts';
import type { NodeEvents, SeenChange } from '../node/rule/node-facts.ts';
import { toEpochMs } from '../../../shared/domain/time.ts';

/** Request for a pass. */
export type PassRequest =
  /** A look at whatever is due. */
  | { readonly kind: 'pool' }
  /** A look at every node, since the settings may have changed. */
  | { readonly kind: 'settings' }
  /** A look at this node. @property seen the change of its conditions; undefined: the reason is another one */
  | { readonly kind: 'node'; readonly uid: string; readonly seen: SeenChange | undefined }
  /** A drain has ended that a repair of this node had requested. */
  | { readonly kind: 'drainEnd'; readonly uid: string; readonly end: EndedDrain };

/** Requests that a pass is to answer. */
export interface PassRequests extends NodeEvents {
  /** UIDs of the nodes that the requests name. */
  readonly uids: ReadonlySet<string>;
  /** The settings may have changed since the previous pass. */
  readonly isAfterSettingsChange: boolean;
}

/** Joins the requests for one pass. */
export function mergeRequests(requests: readonly PassRequest[]): PassRequests {
  const uids = new Set<string>();
  const seenChanges = new Map<string, SeenChange>();
  const drainEnds = new Map<string, EndedDrain>();
  let isForPool = false;
  let isAfterSettingsChange = false;
  for (const request of requests) {
    switch (request.kind) {
      case 'pool':
        isForPool = true;
        break;
      case 'settings':
        isAfterSettingsChange = true;
        break;
      case 'node': {
        const { uid, seen } = request;
        uids.add(uid);
        if (seen === undefined) break;
        const earlier = seenChanges.get(uid);
        seenChanges.set(uid, earlier === undefined ? seen : joined(earlier, seen));
        break;
      }
      case 'drainEnd':
        uids.add(request.uid);
        drainEnds.set(request.uid, request.end);
    }
  }
  const isForChangesOnly =
    !isForPool && !isAfterSettingsChange && seenChanges.size > 0 && [...uids].every(uid => seenChanges.has(uid));
  const changesTime = isForChangesOnly
    ? toEpochMs(Math.max(...[...seenChanges.values()].map(({ time }) => time)))
    : undefined;
  return { uids, seenChanges, changesTime, drainEnds, isAfterSettingsChange };
}

/** Two changes of one node as one: by the first of them it became unhealthy. That a status changed counts before that none did. */
function joined(one: SeenChange, other: SeenChange): SeenChange {
  const both = [one.statusChanged, other.statusChanged];
  const statusChanged = both.includes(true) ? true : both.includes(undefined) ? undefined : false;
  return { time: toEpochMs(Math.min(one.time, other.time)), statusChanged };
}
