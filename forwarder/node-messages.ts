/**
 * Turns a change into the messages to publish. One message about the node replaces one for each pod or function. This
 * is so for pods that go together, for the protections of a node, and for what drains write on it.
 */
import { DRAINED_NODE_CHANGED, NODE_PODS_CHANGED, NODE_PROTECTION_CHANGED } from '../shared/contract/names.ts';
import type { Clock } from '../shared/ports/clock.ts';
import type { ObjectChange, Tracker } from './tracker.ts';
import type { WatchedNodes } from './watched-nodes.ts';

/** Nothing changed but these parts. */
const changedOnly = (parts: readonly string[], { change, changed }: ObjectChange): boolean =>
  change === 'Modified' && changed.length > 0 && changed.every(part => parts.includes(part));

/** A pod that is about to go: a function that empties its node waits until it is gone. */
const isOnItsWay = (change: ObjectChange): boolean => changedOnly(['deletionTimestamp'], change);

const isOfProtectionAlone = (change: ObjectChange): boolean =>
  change.subject.kind === 'Node' && changedOnly(['protection'], change);

/** Parts that only drains write and read: their marks, and the cordon. They cost one message instead of one for each function. */
const PARTS_OF_DRAINS: readonly string[] = ['drain', 'unschedulable'];
const isOfDrainsAlone = (change: ObjectChange): boolean =>
  change.subject.kind === 'Node' && changedOnly(PARTS_OF_DRAINS, change);

export interface NodeMessagesDeps {
  readonly clock: Clock;
  readonly nodes: () => WatchedNodes;
  /** The trackers of Nodes. */
  readonly trackers: () => readonly Tracker[];
}

export interface NodeMessages {
  /** The messages to publish for a change. */
  toPublish(change: ObjectChange): readonly ObjectChange[];
  /** The change of a Node for the functions that wait for its pods; undefined: the Node is not there. */
  nodeChange(nodeName: string, part: 'pods' | 'podsWatched'): ObjectChange | undefined;
}

/** `nodes` and `trackers` are read at each call, so they may be made after this. */
export function createNodeMessages({ clock, nodes, trackers }: NodeMessagesDeps): NodeMessages {
  /**
   * Many pods that go together become a few changes of their node, for each function that waits for them. An annotated pod always concerns
   * the protections; it concerns the functions that empty nodes only on a watched node.
   */
  function toPublish(change: ObjectChange): readonly ObjectChange[] {
    const { interest, subject, hints } = change;
    if (isOfProtectionAlone(change)) return [{ ...change, detailType: NODE_PROTECTION_CHANGED }];
    if (isOfDrainsAlone(change)) return [{ ...change, detailType: DRAINED_NODE_CHANGED }];
    const { nodeName } = hints;
    const concernsNode = interest === 'node' || (subject.kind === 'Pod' && !isOnItsWay(change));
    if (!concernsNode || nodeName === undefined || !nodes().names.has(nodeName)) return [change];
    const ofNode = nodeChange(nodeName, 'pods') ?? { ...change, detailType: NODE_PODS_CHANGED };
    return interest === 'node' ? [ofNode] : [change, ofNode];
  }

  function nodeChange(nodeName: string, part: 'pods' | 'podsWatched'): ObjectChange | undefined {
    for (const tracker of trackers()) {
      const uid = tracker.uidNamed(nodeName);
      const change = uid && tracker.repeat(uid, clock.now(), { changed: [part] });
      if (!change) continue;
      const podsFor = nodes().onlyWaiter(nodeName);
      const hints = podsFor === undefined ? change.hints : { ...change.hints, podsFor };
      return { ...change, detailType: detailTypeOfPods(nodeName), hints };
    }
    return undefined;
  }

  const detailTypeOfPods = (nodeName: string): string =>
    nodes().onlyWaiter(nodeName) === 'drain' ? DRAINED_NODE_CHANGED : NODE_PODS_CHANGED;

  return { toPublish, nodeChange };
}
