/** The functions that wait for the pods of a Node, as its annotation `curfew.dev/watch-pods` says: names with commas. */
import { ANNOTATIONS, type FunctionName } from '../contract/names.ts';
import type { KubernetesObject } from '../domain/kubernetes-object.ts';

function waiters({ metadata }: KubernetesObject): readonly string[] {
  const value = metadata.annotations?.[ANNOTATIONS.watchPods] ?? '';
  return value === '' ? [] : value.split(',');
}

/** Whether this function waits for the pods of the Node. */
export function isWatchedFor(node: KubernetesObject, name: FunctionName): boolean {
  return waiters(node).includes(name);
}

/** The annotation's value with this waiter. */
export function withWaiter(node: KubernetesObject, name: FunctionName): string {
  return [...new Set([...waiters(node), name])].toSorted().join(',');
}

/** The annotation's value without this waiter; null takes the annotation off. */
export function withoutWaiter(node: KubernetesObject, name: FunctionName): string | null {
  const otherWaiters = waiters(node).filter(each => each !== name);
  return otherWaiters.length === 0 ? null : otherWaiters.join(',');
}
