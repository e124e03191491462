/** Requests for a pass, and what those of one pass come to together. Pure. */
import type { EndedDrain } from '../node/attempt-record.ts';
import type { NodeEvents } from '../node/rule/node-facts.ts';
import { type EpochMs, toEpochMs } from '../../../shared/domain/time.ts';

/** Request for a pass. */
export type PassRequest =
  /** A look at whatever is due. */
  | { readonly kind: 'pool' }
  /** A look at every node, since the settings may have changed. */
  | { readonly kind: 'settings' }
  /**
   * A look at this node.
   * @property observedTime time at which its conditions were seen to change; undefined: the reason is another one
   */
  | { readonly kind: 'node'; readonly uid: string; readonly observedTime: EpochMs | undefined }
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
  const observedTimes = new Map<string, EpochMs>();
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
        const { uid, observedTime: time } = request;
        uids.add(uid);
        // By the first of several changes the node became unhealthy.
        if (time !== undefined) observedTimes.set(uid, toEpochMs(Math.min(time, observedTimes.get(uid) ?? time)));
        break;
      }
      case 'drainEnd':
        uids.add(request.uid);
        drainEnds.set(request.uid, request.end);
    }
  }
  const isForChangesOnly =
    !isForPool && !isAfterSettingsChange && observedTimes.size > 0 && [...uids].every(uid => observedTimes.has(uid));
  const changesTime = isForChangesOnly ? toEpochMs(Math.max(...observedTimes.values())) : undefined;
  return { uids, observedTimes, changesTime, drainEnds, isAfterSettingsChange };
}
