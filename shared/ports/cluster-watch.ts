/**
 * List and watch for the forwarder. A page is `notServed` when the CRD is missing. `watch` yields until the server ends the
 * stream or `signal` aborts; it throws `WatchExpired` for 410 and `RetryableError` for everything that a reconnect may cure.
 */
import type { GroupKind, GroupVersionKind, KubernetesObject, ResourceType } from '../domain/kubernetes-object.ts';
import type { ListOptions } from './kubernetes-api.ts';

/** HTTP 410 or an ERROR event with code 410: the resourceVersion is too old, list again. */
export class WatchExpired extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'WatchExpired';
  }
}

export type WatchEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: KubernetesObject }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string };

export interface WatchSelection {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly namespace?: string;
}

export type ListPage =
  | {
      readonly kind: 'page';
      readonly items: readonly KubernetesObject[];
      readonly resourceVersion: string;
      readonly continue?: string;
    }
  | { readonly kind: 'notServed' };

export interface PageOptions extends Pick<ListOptions, 'unread'> {
  readonly selection?: WatchSelection;
  /** Number of objects; without it everything comes. */
  readonly limit?: number | undefined;
  /** Token that came with the page before. */
  readonly continue?: string;
  readonly signal: AbortSignal;
}

export interface ClusterWatch {
  /** The resource of a kind; undefined when it is not served. Throws as `list` does. */
  resolve(kind: GroupVersionKind, signal: AbortSignal): Promise<ResourceType | undefined>;
  /** The versions in which the kind is served; none when its definition is missing. Throws as `list` does. */
  versionsOf(kind: GroupKind, signal: AbortSignal): Promise<readonly string[]>;
  /** One page. Consistent: as fresh as etcd at the first page. */
  list(type: ResourceType, options: PageOptions): Promise<ListPage>;
  watch(
    type: ResourceType,
    options: {
      selection?: WatchSelection;
      resourceVersion: string;
      timeoutSeconds: number;
      signal: AbortSignal;
    },
  ): AsyncIterable<WatchEvent>;
}
