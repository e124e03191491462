import type { DurationMs } from '../shared/domain/time.ts';
import type { Clock } from '../shared/ports/clock.ts';
import type { ClusterWatch, ListPage, WatchSelection } from '../shared/ports/cluster-watch.ts';
import type { WatchedResource } from './resources.ts';
import { guardInactivity, orAborted } from './inactivity.ts';

export interface ListDeps {
  readonly resource: WatchedResource;
  readonly watch: ClusterWatch;
  readonly clock: Clock;
  readonly timings: {
    readonly pageSize: number;
    /** Time that one page may take. */
    readonly listTimeout: DurationMs;
  };
}

/** The pages of one consistent list; `notServed` is the last one. Throws what the API throws, and when a page takes too long. */
export async function* listPages(deps: ListDeps, signal: AbortSignal): AsyncGenerator<ListPage> {
  let token: string | undefined;
  do {
    const page = await readPage(deps, token, signal);
    yield page;
    token = page.kind === 'page' ? page.continue : undefined;
  } while (token !== undefined);
}

async function readPage(
  { resource, watch, clock, timings }: ListDeps,
  token: string | undefined,
  signal: AbortSignal,
): Promise<ListPage> {
  const guard = guardInactivity(clock, timings.listTimeout, signal, `listing ${resource.type.resource}`);
  try {
    const { unread } = resource;
    const limit = Math.min(timings.pageSize, resource.pageSizeMax ?? Infinity);
    const options = { ...selectionOf(resource), unread, limit, signal: guard.signal };
    const page = watch.list(resource.type, token === undefined ? options : { ...options, continue: token });
    return await orAborted(page, guard.signal);
  } finally {
    guard.dispose();
  }
}

/** The selection as an option, absent when there is none. */
export function selectionOf({ selection }: WatchedResource): { selection?: WatchSelection } {
  return selection === undefined ? {} : { selection };
}
