/**
 * The nodes whose pods are published: those that carry the mark, and those that are being terminated by somebody whom Curfew helps.
 * Pure bookkeeping.
 */
import { ANNOTATIONS, KARPENTER, type FunctionName } from '../shared/contract/names.ts';
import type { KubernetesObject } from '../shared/domain/kubernetes-object.ts';
import { textAt } from './fields.ts';

export type NodeKind = 'Node' | 'NodeClaim';

/** Names of the watched nodes. */
export interface WatchedNodeNames {
  has(name: string): boolean;
  readonly size: number;
}

export interface WatchedNodes {
  readonly names: WatchedNodeNames;
  /** The one function that waits for the pods of this node; undefined: none or several. */
  onlyWaiter(name: string): string | undefined;
  /** A Node or NodeClaim as it is now. */
  present(kind: NodeKind, object: KubernetesObject): void;
  /** A Node or NodeClaim that is gone. */
  gone(uid: string): void;
}

export interface WatchedNodesListener {
  added(name: string): void;
  /** Somebody else waits for the pods of this node, too. */
  joined(name: string): void;
  removed(name: string): void;
}

interface NodeWaiters {
  readonly nodeName: string;
  readonly waiters: readonly string[];
}

/** The function that waits for the pods of an object that is being deleted. */
const TERMINATES: FunctionName = 'finalizer';

/** Finalizers of somebody who drains nodes without us, or that have nothing to do with pods. */
const FOREIGN_FINALIZERS: ReadonlySet<string> = new Set([
  KARPENTER.terminationFinalizer,
  'foregroundDeletion',
  'orphan',
]);

/** The node whose pods this Node or NodeClaim asks for, and the functions that wait for them. */
export function nodeToWatch(kind: NodeKind, object: KubernetesObject): NodeWaiters | undefined {
  const { annotations = {}, deletionTimestamp, finalizers = [], name } = object.metadata;
  const terminating =
    deletionTimestamp !== undefined && finalizers.some(finalizer => !FOREIGN_FINALIZERS.has(finalizer));
  const mark = kind === 'Node' ? (annotations[ANNOTATIONS.watchPods] ?? '') : '';
  const waiters = [...(mark === '' ? [] : mark.split(',')), ...(terminating ? [TERMINATES] : [])];
  const nodeName = kind === 'Node' ? name : textAt(object, 'status', 'nodeName');
  return waiters.length === 0 || nodeName === undefined ? undefined : { nodeName, waiters };
}

/**
 * Tells the listener of a node when its first waiter comes (`added`), when another one joins, and when the last has
 * gone.
 */
export function createWatchedNodes(listener: WatchedNodesListener): WatchedNodes {
  /** UID of the Node or NodeClaim → name of the node it asks for. */
  const nodeOf = new Map<string, string>();
  /** Node name → who waits, by the UID that says so. */
  const wanted = new Map<string, Map<string, readonly string[]>>();
  const waitersOf = (name: string) => new Set([...(wanted.get(name)?.values() ?? [])].flat());

  function leave(uid: string, name: string): void {
    const askers = wanted.get(name);
    nodeOf.delete(uid);
    askers?.delete(uid);
    if (askers?.size !== 0) return;
    wanted.delete(name);
    listener.removed(name);
  }

  function join(uid: string, { nodeName, waiters }: NodeWaiters): void {
    const before = waitersOf(nodeName);
    nodeOf.set(uid, nodeName);
    wanted.set(nodeName, (wanted.get(nodeName) ?? new Map<string, readonly string[]>()).set(uid, waiters));
    if (before.size === 0) listener.added(nodeName);
    else if (waiters.some(waiter => !before.has(waiter))) listener.joined(nodeName);
  }

  return {
    names: wanted,
    onlyWaiter(name) {
      let only: string | undefined;
      for (const waiters of wanted.get(name)?.values() ?? []) {
        for (const waiter of waiters) {
          if (only !== undefined && only !== waiter) return undefined;
          only = waiter;
        }
      }
      return only;
    },
    present(kind, object) {
      const { uid } = object.metadata;
      const next = nodeToWatch(kind, object);
      const before = nodeOf.get(uid);
      if (before !== undefined && before !== next?.nodeName) leave(uid, before);
      if (next !== undefined) join(uid, next);
    },
    gone(uid) {
      const before = nodeOf.get(uid);
      if (before !== undefined) leave(uid, before);
    },
  };
}
