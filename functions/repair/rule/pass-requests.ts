/** Requests for a pass, and what those of one pass come to together. Pure. */
import type { EndedDrain } from '../attempt-record.ts';
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
export interface PassRequests {
  /** Time at which the forwarder saw the change of a node that this pass is for, by UID. */
  readonly observedTimes: ReadonlyMap<string, EpochMs>;
  /**
   * Time at which the forwarder saw the latest of these changes, for every node; undefined: the pass is not for changes
   * alone.
   */
  readonly changesTime: EpochMs | undefined;
  /** End of a drain that a repair had requested, by UID of the node. */
  readonly drainEnds: ReadonlyMap<string, EndedDrain>;
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
