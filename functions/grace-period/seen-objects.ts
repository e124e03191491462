/**
 * Pods in the very state in which this process has looked at them, and Nodes as it left them, so that the events of a hundred pods that
 * start on one node cost a few looks and not a hundred, and a change of our own costs none. Only equality counts: an event of any other
 * state is looked into. Losing the memory costs looks.
 */
import { setNewest } from './set-newest.ts';

/** About 100 bytes each. */
const REMEMBERED_MAX = 20_000;

/** One state of one object. */
export interface Version {
  readonly uid: string;
  readonly resourceVersion: string;
}

export interface SeenObjects {
  /** The objects were looked at, or left, in these states, and what was to be done is done. */
  remember(objects: readonly Version[]): void;
  has(uid: string, resourceVersion: string): boolean;
}

/** @param max objects that are remembered; beyond it the oldest is forgotten and costs one look more */
export function createSeenObjects(max: number = REMEMBERED_MAX): SeenObjects {
  const versions = new Map<string, string>();
  return {
    remember(objects) {
      for (const { uid, resourceVersion } of objects) setNewest(versions, uid, resourceVersion, max);
    },
    has: (uid, resourceVersion) => versions.get(uid) === resourceVersion,
  };
}
