/** Lists, in pages when asked for: a page shows the state of the first page's version. */
import type { StoredObject } from '../kubernetes-object.ts';
import { toObject } from '../objects.ts';
import type { ServedResource } from '../resources/resource-rules.ts';
import { parseFieldSelector } from '../selectors/field-text.ts';
import { parseLabelSelector, type Selection } from '../selectors/label-text.ts';
import type { ServerContext } from '../server-context.ts';
import { badRequest, expired } from '../status-errors.ts';
import type { ListOptions, ListResult } from '../types.ts';
import { withField } from '../json.ts';

/** Lists that are being paged through are kept as they were, at most so many. The oldest is forgotten first. */
const MAX_SNAPSHOTS = 100;
/** As long as etcd keeps what has changed. */
const KEPT_FOR_MS = 300_000;

interface Snapshot {
  readonly served: ServedResource;
  readonly version: string;
  readonly items: readonly StoredObject[];
  readonly selective: boolean;
  /** When it was made; milliseconds since 1970. */
  readonly time: number;
}

export class Lister {
  readonly #server: ServerContext;
  readonly #snapshots = new Map<string, Snapshot>();
  #nextId = 1;

  constructor(server: ServerContext) {
    this.#server = server;
  }

  /** @throws ApiStatusError 400 for a bad selector or token, 410 for a token whose list is no longer kept */
  list(served: ServedResource, options: ListOptions): ListResult {
    if (options.continue !== undefined && options.continue !== '') return this.#resume(served, options);
    const snapshot: Snapshot = {
      served,
      version: String(this.#server.store.version),
      items: select(served, options),
      selective: selectionOf(served, options) !== undefined,
      time: this.#server.clock.now(),
    };
    return this.#page(snapshot, 0, options.limit, undefined);
  }

  /** Forgets the lists that are being paged through: their tokens are answered with 410. */
  compact(): void {
    this.#snapshots.clear();
  }

  #resume(served: ServedResource, options: ListOptions): ListResult {
    const match = /^(\d+)\.(\d+)$/.exec(Buffer.from(options.continue ?? '', 'base64url').toString());
    const [, id = '', start = ''] = match ?? [];
    if (match === null) throw badRequest('continue key is not valid: it was not issued by this server');
    this.#forgetOld();
    const snapshot = this.#snapshots.get(id);
    if (snapshot === undefined || snapshot.served.storage !== served.storage) {
      throw expired(
        'The provided continue parameter is too old to display a consistent list result. You must start a new list without the continue parameter.',
      );
    }
    return this.#page(snapshot, Number(start), options.limit, id);
  }

  #page(snapshot: Snapshot, start: number, limit: number | undefined, id: string | undefined): ListResult {
    const { items, version, served } = snapshot;
    const end = limit === undefined || limit <= 0 ? items.length : Math.min(start + limit, items.length);
    const { apiVersion } = served;
    const page = {
      resourceVersion: version,
      items: items
        .slice(start, end)
        .map(item => (item.apiVersion === apiVersion ? item : toObject(withField(item, 'apiVersion', apiVersion)))),
    };
    if (end >= items.length) return page;
    const kept = id ?? this.#keep(snapshot);
    const token = Buffer.from(`${kept}.${end}`).toString('base64url');
    // How many remain is only told for a whole list, where the server knows without looking at each object.
    return { ...page, continue: token, ...(snapshot.selective ? {} : { remainingItemCount: items.length - end }) };
  }

  #keep(snapshot: Snapshot): string {
    const id = String(this.#nextId);
    this.#nextId += 1;
    this.#snapshots.set(id, snapshot);
    this.#forgetOld();
    return id;
  }

  #forgetOld(): void {
    for (const [id, { time }] of this.#snapshots) {
      if (this.#snapshots.size <= MAX_SNAPSHOTS && this.#server.clock.now() < time + KEPT_FOR_MS) return;
      this.#snapshots.delete(id);
    }
  }
}

/** The stored objects that a list or watch is about, in key order. */
export function select(served: ServedResource, options: ListOptions): StoredObject[] {
  const { collection } = served.storage;
  const selection = selectionOf(served, options);
  const namespace = namespaceOfList(served, options);
  if (selection === undefined) return collection.list(namespace);
  const { matches, equality } = selection;
  const items = (equality && collection.listEqual(equality, namespace)) ?? collection.list(namespace);
  return items.filter(matches);
}

/** The namespace that a list is limited to, if any. */
export function namespaceOfList({ info }: ServedResource, { namespace }: ListOptions): string | undefined {
  return info.namespaced && namespace !== '' ? namespace : undefined;
}

/**
 * Label and field selectors as one.
 * @throws ApiStatusError 400
 */
export function selectionOf({ rules }: ServedResource, options: ListOptions): Selection | undefined {
  const labels = parseLabelSelector(options.labelSelector);
  const fields = parseFieldSelector(options.fieldSelector, rules.fields);
  if (labels === undefined || fields === undefined) return labels ?? fields;
  return {
    matches: object => labels.matches(object) && fields.matches(object),
    equality: fields.equality ?? labels.equality,
  };
}
