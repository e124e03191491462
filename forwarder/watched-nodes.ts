/**
 * The nodes whose pods are published: those that carry the mark, and those that are being terminated by somebody whom Curfew helps.
 * Pure bookkeeping.
 */
import { ANNOTATIONS, KARPENTER } from '../shared/contract/names.ts';
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
  /** A Node or NodeClaim as it is now. */
  present(kind: NodeKind, object: KubernetesObject): void;
  /** A Node or NodeClaim that is gone. */
  gone(uid: string): void;
}

export interface WatchedNodesListener {
  added(name: string): void;
  removed(name: string): void;
}

/** Finalizers of somebody who drains nodes without us, or that have nothing to do with pods. */
const FOREIGN_FINALIZERS: ReadonlySet<string> = new Set([
  KARPENTER.terminationFinalizer,
  'foregroundDeletion',
  'orphan',
]);

/** The node whose pods this Node or NodeClaim asks for. */
export function nodeToWatch(kind: NodeKind, object: KubernetesObject): string | undefined {
  const { annotations = {}, deletionTimestamp, finalizers = [], name } = object.metadata;
  const terminating =
    deletionTimestamp !== undefined && finalizers.some(finalizer => !FOREIGN_FINALIZERS.has(finalizer));
  const marked = kind === 'Node' && (annotations[ANNOTATIONS.watchPods] ?? '') !== '';
  if (!terminating && !marked) return undefined;
  return kind === 'Node' ? name : textAt(object, 'status', 'nodeName');
}

export function createWatchedNodes(listener: WatchedNodesListener): WatchedNodes {
  /** UID of the Node or NodeClaim → name of the node it asks for. */
  const wanted = new Map<string, string>();
  /** How many ask for each node. */
  const counts = new Map<string, number>();

  function set(uid: string, name: string | undefined): void {
    const before = wanted.get(uid);
    if (before === name) return;
    if (name === undefined) wanted.delete(uid);
    else wanted.set(uid, name);
    if (name !== undefined) {
      const count = counts.get(name) ?? 0;
      counts.set(name, count + 1);
      if (count === 0) listener.added(name);
    }
    if (before !== undefined) {
      const count = counts.get(before) ?? 0;
      if (count > 1) counts.set(before, count - 1);
      else {
        counts.delete(before);
        listener.removed(before);
      }
    }
  }

  return {
    names: counts,
    present: (kind, object) => set(object.metadata.uid, nodeToWatch(kind, object)),
    gone: uid => set(uid, undefined),
  };
}
