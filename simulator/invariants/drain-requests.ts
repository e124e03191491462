/** Who asked for drains of which node, told from what went over the bus (docs/drain.md), by rules of its own. */
import type { BusEventSeen, CheckContext } from './invariant.ts';
import { dig, instantOf, listOf, textOf } from './reading.ts';

export interface DrainRequestSeen {
  readonly id: string;
  readonly time: number;
  /** When the fault was said to be there. */
  readonly madeTime: number;
  /** Agent, class and check. */
  readonly check: string;
  /** What has not recovered yet, as `entity code`; `*`: all. */
  readonly left: Set<string>;
  readonly force: boolean;
  /** Whatever the configuration says. */
  readonly allPods?: boolean;
  /** When somebody took it back. */
  endTime: number | undefined;
  /** It was taken back by opening the node, and by nothing else. */
  isOpened: boolean;
  /** Another Node has the name now: the same id is news about that one (I10). */
  isOfEarlierNode: boolean;
  /** When the last of its parts recovered, for those that did. */
  recovered: boolean;
  /** The fault and its end were said at the same instant: they count in the order in which they come, which nobody here knows. */
  isUnordered: boolean;
  /** The request as it came again after the fault had recovered. A drain that never met the first one takes this for a new one. */
  repeat: Asked | undefined;
}

type Asked = Pick<DrainRequestSeen, 'check' | 'left' | 'force' | 'allPods' | 'madeTime' | 'isUnordered'>;

export interface DrainRequests {
  readonly onBusEvent: (event: BusEventSeen) => void;
  /** Of one node: those that nobody has taken back before `since`. */
  readonly open: (node: string, since: number) => readonly DrainRequestSeen[];
  /** A person opened the node: what was asked before keeps it no longer. */
  readonly onOpened: (node: string) => void;
  /** Another Node came under the name. */
  readonly onReplaced: (node: string) => void;
  /**
   * A drain took the request for the first time. The request counts, although somebody opened the node, or the fault recovered and came again,
   * while the event was on its way.
   */
  readonly onTaken: (node: string, id: string) => void;
}

const HOUR = 3_600_000;
/** The generator has no other `maxEventAge`. */
const MAX_AGE = HOUR;
/** The names of the simulated cluster, as the generator has them. */
const CLUSTERS: readonly unknown[] = ['simulated', 'prod-eu', undefined];
const ALL = '*';

interface News {
  readonly event: unknown;
  readonly form: 'flat' | 'exported' | 'stored' | 'resource';
  readonly status: string | undefined;
  readonly clusters: readonly unknown[];
  readonly id: string | undefined;
}

/** The event of a detail, whatever is around it. */
function newsOf(detail: unknown): News {
  const word = (value: unknown): string | undefined => {
    const text = textOf(value);
    return text === '' || text === 'NotStarted' ? undefined : text;
  };
  const exported = dig(detail, 'data', 'healthEvent');
  if (exported !== undefined) {
    const host = /^nvsentinel:\/\/([^/]+)/.exec(textOf(dig(detail, 'source')) ?? '')?.[1];
    const clusters = [dig(detail, 'cluster'), dig(detail, 'data', 'metadata', 'cluster'), host];
    const id = textOf(dig(exported, 'id'));
    return { event: exported, form: 'exported', status: undefined, clusters, id };
  }
  const stored = dig(detail, 'healthevent');
  if (stored !== undefined) {
    const id = textOf(dig(detail, '_id')) ?? textOf(dig(detail, '_id', '$oid'));
    const status = word(dig(detail, 'healtheventstatus', 'nodequarantined'));
    return { event: stored, form: 'stored', status, clusters: [], id };
  }
  if (dig(detail, 'kind') === 'HealthEventResource') {
    const status = word(dig(detail, 'status', 'nodeQuarantined'));
    const spec = dig(detail, 'spec');
    return { event: spec, form: 'resource', status, clusters: [], id: textOf(dig(spec, 'id')) };
  }
  const event = dig(detail, 'healthEvent') ?? detail;
  const status = word(dig(detail, 'healthEventStatus', 'nodeQuarantined'));
  return { event, form: 'flat', status, clusters: [dig(detail, 'cluster')], id: textOf(dig(event, 'id')) };
}

const field = (event: unknown, name: string): unknown => dig(event, name) ?? dig(event, name.toLowerCase());

/** Whether the event asks for a drain, of those that are news of this cluster. */
function isAsking({ event, form, status }: News): boolean {
  if (dig(event, 'drainOverrides', 'skip') === true) return false;
  if (status === 'Quarantined' || status === 'AlreadyQuarantined') return true;
  if (dig(event, 'drainOverrides', 'force') === true) return true;
  if (status !== undefined || form === 'stored' || form === 'resource') return false;
  return dig(event, 'isFatal') === true;
}

/** What the event says when it was made; nothing where that is ahead of the bus. */
function madeOf(event: unknown, now: number): number | undefined {
  const made = instantOf(textOf(field(event, 'generatedTimestamp')));
  return made !== undefined && made > now + 1000 ? undefined : made;
}

function partsOf(event: unknown): { readonly entities: readonly string[]; readonly codes: readonly string[] } {
  const entities = listOf(field(event, 'entitiesImpacted')).map(each => String(dig(each, 'entityValue')));
  return { entities, codes: listOf(field(event, 'errorCode')).map(String) };
}

const pairs = (entities: readonly string[], codes: readonly string[]): readonly string[] =>
  (entities.length === 0 ? [ALL] : entities).flatMap(entity =>
    (codes.length === 0 ? [ALL] : codes).map(code => `${entity} ${code}`),
  );

const NEW = {
  endTime: undefined,
  isOpened: false,
  isOfEarlierNode: false,
  recovered: false,
  repeat: undefined,
};

type Table = Pick<CheckContext, 'now' | 'memoryOf'>;

export function createDrainRequests({ now, memoryOf }: Table): DrainRequests {
  /** By node, then by id. */
  const known = new Map<string, Map<string, DrainRequestSeen>>();
  /** The end of a fault that was said before the fault itself came. */
  const over = new Map<string, number>();
  /** When the end of a quarantine was said last, by node. */
  const quarantineEnds = new Map<string, number>();
  const add = (node: string, id: string, request: Asked): void => {
    const requests = known.get(node) ?? new Map<string, DrainRequestSeen>();
    known.set(node, requests);
    const before = requests.get(id);
    // A table that is lost has forgotten that it was answered.
    if (before?.isOfEarlierNode === false && memoryOf(before.time) === 'whole') {
      if (before.recovered) before.repeat = request;
      return;
    }
    requests.set(id, { ...request, ...NEW, id, time: now() });
  };
  const close = (request: DrainRequestSeen): void => {
    request.endTime ??= now();
    request.isOpened = false;
    request.isUnordered = false;
  };
  const end = (node: string, isMeant: (request: DrainRequestSeen) => boolean): void => {
    for (const request of known.get(node)?.values() ?? []) if (isMeant(request)) close(request);
  };
  const recover = (node: string, check: string, event: unknown): void => {
    const { entities, codes } = partsOf(event);
    const madeTime = madeOf(event, now()) ?? now();
    for (const request of known.get(node)?.values() ?? []) {
      if (request.check !== check) continue;
      for (const part of request.left) {
        const [entity = '', code = ''] = part.split(' ');
        const isNamed = entities.length === 0 || entities.includes(entity);
        if (isNamed && (codes.length === 0 || codes.includes(code))) request.left.delete(part);
      }
      if (request.left.size > 0) continue;
      request.isUnordered = request.madeTime === madeTime && request.endTime === undefined;
      if (request.isUnordered) continue;
      close(request);
      request.recovered = true;
    }
    over.set(`${node} ${check}`, madeTime);
  };
  const onOpened = (node: string): void => {
    for (const request of known.get(node)?.values() ?? []) {
      if (request.time >= now() || request.endTime !== undefined) continue;
      request.endTime = now();
      request.isOpened = true;
    }
  };
  return {
    onOpened,
    onReplaced(node) {
      onOpened(node);
      for (const request of known.get(node)?.values() ?? []) request.isOfEarlierNode = request.time < now();
    },
    onTaken(node, id) {
      const request = known.get(node)?.get(id);
      if (request?.repeat !== undefined) known.get(node)?.set(id, { ...request.repeat, ...NEW, id, time: now() });
      if (request?.isOpened !== true || request.recovered) return;
      request.endTime = undefined;
      request.isOpened = false;
    },
    onBusEvent({ detailType, detail }) {
      const text = (...path: string[]): string => textOf(dig(detail, ...path)) ?? '';
      if (detailType === 'DrainRequested') {
        const force = dig(detail, 'force') === true;
        const allPods = dig(detail, 'allPods') === true;
        const asked = { check: '', left: new Set([ALL]), force, allPods, madeTime: now(), isUnordered: false };
        return add(text('node', 'name'), text('id'), asked);
      }
      if (detailType !== 'HealthEvent') return;
      const news = newsOf(detail);
      const { event, status } = news;
      if (!news.clusters.every(cluster => CLUSTERS.includes(cluster))) return;
      const node = textOf(field(event, 'nodeName')) ?? '';
      const check = ['agent', 'componentClass', 'checkName'].map(key => textOf(field(event, key)) ?? '').join('/');
      if (status === 'UnQuarantined') {
        quarantineEnds.set(node, madeOf(event, now()) ?? now());
        return end(node, () => true);
      }
      if (status === 'Cancelled') return end(node, ({ id }) => id === news.id);
      if (dig(event, 'isHealthy') === true) return recover(node, check, event);
      if (!isAsking(news)) return;
      const made = madeOf(event, now());
      if (made !== undefined && now() - made > MAX_AGE) return;
      const madeTime = made ?? now();
      const overTime = over.get(`${node} ${check}`) ?? -Infinity;
      if (overTime > madeTime) return;
      const { entities, codes } = partsOf(event);
      const id = news.id ?? `${node} ${check} ${pairs(entities, codes).join()} ${made ?? now()}`;
      const force = dig(event, 'drainOverrides', 'force') === true;
      const isUnordered =
        overTime === madeTime ||
        ((status !== undefined || made === undefined) && quarantineEnds.get(node) === madeTime);
      add(node, id, { check, left: new Set(pairs(entities, codes)), force, madeTime, isUnordered });
    },
    open: (node, since) =>
      [...(known.get(node)?.values() ?? [])].filter(({ endTime }) => endTime === undefined || endTime >= since),
  };
}
