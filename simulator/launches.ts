/** Which NodeClaims Karpenter launches in a simulation, and how: those that Curfew or a Karpenter by itself creates, and those of pools that a step `launch` has named. */
import type { ObservedWrite } from '../packages/kube-apiserver/src/types.ts';
import type { LaunchResult } from './scenario/scenario.ts';

export interface Launches {
  /** From now on. */
  set(nodePool: string, result: LaunchResult): void;
  /** Hears of each write of Curfew's, and of a Karpenter's that acts by itself. */
  written(write: ObservedWrite): void;
  /** undefined: it stays as it is. */
  resultFor(claim: { readonly uid: string; readonly nodePool: string | undefined }): LaunchResult | undefined;
  /** Called whenever a pool is named. */
  onSet(action: (nodePool: string) => void): void;
}

export function createLaunches(): Launches {
  const results = new Map<string, LaunchResult>();
  const created = new Set<string>();
  const listeners: ((nodePool: string) => void)[] = [];
  return {
    set(nodePool, result) {
      results.set(nodePool, result);
      for (const listener of listeners) listener(nodePool);
    },
    written({ verb, resource, after }) {
      if (verb === 'create' && resource.resource === 'nodeclaims' && after !== undefined) {
        created.add(after.metadata.uid);
      }
    },
    resultFor({ uid, nodePool }) {
      const stated = nodePool === undefined ? undefined : results.get(nodePool);
      return stated ?? (created.has(uid) ? 'succeed' : undefined);
    },
    onSet: action => void listeners.push(action),
  };
}
