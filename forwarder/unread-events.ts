/** Which watch events of a resource say nothing new by their text, so that nobody reads them. */
import type { PodInterest } from './projection.ts';
import type { TrackedObjects } from './tracked-objects.ts';
import { isAboutNone, keyOfEvent, namesOneOf, tellsOfRemoval, uidOf, type Unread } from './unread.ts';

export interface UnreadEventsDeps {
  /** Undefined: events of the resource are always read. */
  readonly unread: Unread | undefined;
  readonly tracked: TrackedObjects;
  readonly watchedNodes: PodInterest['watchedNodes'];
  /** Whether somebody is about to look at all pods of this node, so that one more that is gone changes nothing. */
  readonly isTold: (nodeName: string) => boolean;
}

export interface UnreadEvents {
  /** Whether the event with this text says nothing new (and what is gone is forgotten). False: it must be read. */
  skips(text: string): boolean;
  /** An event of this object was read. */
  isRead(uid: string): void;
  clear(): void;
}

/**
 * Call `isRead` for each event that `skips` has let through: until then its object counts as unknown and every event of
 * it is read.
 */
export function createUnreadEvents({ unread, tracked, watchedNodes, isTold }: UnreadEventsDeps): UnreadEvents {
  /**
   * Objects of events that were found worth reading and are not read yet, and whether one of these has the mark: until then, nothing
   * about them is known.
   */
  const toBeRead = new Map<string, { readonly marked: boolean }>();

  function isKnown(uid: string, text: string, how: Unread): boolean {
    switch (how.kind) {
      case 'heartbeat':
        return !toBeRead.has(uid) && tracked.hasText(keyOfEvent(text, how.unprojected) ?? '');
      case 'unmarked': {
        if (text.includes(how.mark)) return false;
        const before = tracked.get(uid);
        const waiting = toBeRead.get(uid);
        if (before?.interest === 'itself' || waiting?.marked === true) return false;
        if (before === undefined && waiting === undefined) {
          return isAboutNone(text, tracked) && !namesOneOf(text, watchedNodes);
        }
        if (how.awaitsEnd(text)) return true;
        if (before === undefined || waiting !== undefined) return false;
        if (!tellsOfRemoval(text)) return how.keyOfEvent(text) === before.textKey;
        if (before.hints.nodeName === undefined || !isTold(before.hints.nodeName)) return false;
        tracked.forget(uid);
        return true;
      }
    }
  }

  function skips(text: string): boolean {
    if (unread === undefined) return false;
    const uid = uidOf(text);
    if (uid === undefined) return false;
    if (isKnown(uid, text, unread)) return true;
    const isMarked = unread.kind === 'unmarked' && text.includes(unread.mark);
    toBeRead.set(uid, { marked: isMarked || toBeRead.get(uid)?.marked === true });
    return false;
  }

  return { skips, isRead: uid => void toBeRead.delete(uid), clear: () => toBeRead.clear() };
}
