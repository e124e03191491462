/**
 * Limit of the requests that wait on a node: its record has room for so many. A request that the drain under way or the next one covers is
 * answered, and the answer to that drain stands for it. A wider or forced one is never refused: it replaces those that it covers, or becomes one
 * wider request with another. Pure; part of `answerOrTake`.
 */
import type { HealthEvent } from '../../../shared/domain/health-event.ts';
import { goesForAllPods, isForAllPods, isForceful, isWaiting } from './phase.ts';
import { covers, FULL, scopeOf, scopeOfAll, type DrainScope } from './pods.ts';
import { waitsForNobody } from './queue.ts';
import { bytesOf } from './record-size.ts';
import type { ActiveDrain, DrainRecord } from '../record.ts';
import type { DrainOutcome, DrainRequest } from '../request-record.ts';

/** Most requests of one node that wait at once: more than its monitors have checks. */
const MAX_REQUESTS = 50;
/** The most bytes of their JSON. A record has room for 400 KB. */
const MAX_BYTES = 131_072;
/** Characters of a message that are kept where room is short. */
const KEPT_OF_MESSAGE = 256;

/** Whether the record has no room for a further request. @param joins it joins the drain under way, else it follows */
export function isFull({ active, requests }: DrainRecord, request: DrainRequest, joins: boolean): boolean {
  const running = active?.requests ?? [];
  if ((joins ? running : requests).length >= MAX_REQUESTS) return true;
  const waiting = [...requests, ...running];
  return waiting.length > 0 && bytesOf([...waiting, request]) > MAX_BYTES;
}

/** Demand of several requests together. */
interface Demand {
  readonly scope: DrainScope;
  readonly force: boolean;
  /** All pods go, whatever the configuration says. */
  readonly allPods: boolean;
  readonly waitsForNobody: boolean;
}

export type RoomDecision =
  | { readonly kind: 'covered'; readonly outcome: DrainOutcome }
  | {
      readonly kind: 'taken';
      /** The record without the replaced requests; the new one is not in it yet. */
      readonly record: DrainRecord;
      readonly request: DrainRequest;
      /** Requests that the new one replaces: they end with `outcome`. */
      readonly replacedRequests: readonly DrainRequest[];
      readonly outcome: DrainOutcome;
    };

/** Makes room for a request in a record that is full. @param joins the request joins the drain under way, else it follows */
export function makeRoom(
  record: DrainRecord,
  request: DrainRequest,
  { joins, partialDrain }: { readonly joins: boolean; readonly partialDrain: boolean },
): RoomDecision {
  const { active, requests } = record;
  const own = wantedOf([request], partialDrain);
  const running = active === undefined || !joins ? undefined : wantedOfActive(active);
  if (active !== undefined && running !== undefined && isCovered(own, running)) {
    return { kind: 'covered', outcome: coveredOutcome(`drain ${active.id}, which is under way,`) };
  }
  const [first] = requests;
  if (first !== undefined && isCovered(own, wantedOf(requests, partialDrain))) {
    return { kind: 'covered', outcome: coveredOutcome(`drain ${first.id}, which is next,`) };
  }
  const others = joins && active !== undefined ? active.requests : requests;
  const covered = others.filter(each => isCovered(wantedOf([each], partialDrain), own));
  // Who asks for all pods, such as a repair before a reboot, takes that back soon: the others stay for the time after it.
  const replaced = own.allPods ? covered.slice(-1) : covered;
  const last = others.findLast(each => !isForAllPods(each)) ?? others.at(-1);
  if (replaced.length > 0 || last === undefined) return takenWith(record, slim(request), replaced);
  return takenWith(record, widened(slim(request), last, partialDrain), [last]);
}

const coveredOutcome = (by: string): DrainOutcome => ({
  status: 'Cancelled',
  reason: 'Covered',
  message: `${by} covers it, and so many requests of this node wait that it is not kept: the answer to that one stands for it`,
  left: [],
});

function takenWith(
  record: DrainRecord,
  request: DrainRequest,
  replacedRequests: readonly DrainRequest[],
): RoomDecision {
  const isKept = (each: DrainRequest): boolean => !replacedRequests.includes(each);
  const { active } = record;
  const kept = {
    ...record,
    requests: record.requests.filter(isKept),
    ...(active !== undefined && { active: { ...active, requests: active.requests.filter(isKept) } }),
  };
  return {
    kind: 'taken',
    record: kept,
    request,
    replacedRequests,
    outcome: coveredOutcome(`drain ${request.id}, which is wider,`),
  };
}

const isCovered = (one: Demand, by: Demand): boolean =>
  covers(by.scope, one.scope) &&
  (by.force || !one.force) &&
  (by.allPods || !one.allPods) &&
  (by.waitsForNobody || !one.waitsForNobody);

/** The demand of requests together. An event is about the whole node without a usable entity, or while nobody knows how drains are limited to them. */
function wantedOf(requests: readonly DrainRequest[], partialDrain: boolean): Demand {
  const isWhole = requests.some(({ event }) => scopeOf(event, partialDrain).kind === 'unusable');
  return {
    scope: isWhole ? FULL : scopeOfAll(requests, partialDrain),
    force: requests.some(isForceful),
    allPods: requests.some(isForAllPods),
    waitsForNobody: requests.some(waitsForNobody),
  };
}

const wantedOfActive = (active: ActiveDrain): Demand => ({
  scope: active.scope,
  force: active.force,
  allPods: goesForAllPods(active),
  waitsForNobody: !isWaiting(active) || active.requests.some(waitsForNobody),
});

/** Cuts what templates show of a request beside its fault, where room is short. */
const slim = (request: DrainRequest): DrainRequest => ({
  ...request,
  event: { ...request.event, message: request.event.message.slice(0, KEPT_OF_MESSAGE), metadata: {} },
});

/** One request that asks for what both ask for. */
function widened(request: DrainRequest, other: DrainRequest, partialDrain: boolean): DrainRequest {
  const isWhole = [request, other].some(({ event }) => scopeOf(event, partialDrain).kind === 'full');
  const { event } = request;
  const force = isForceful(request) || isForceful(other);
  const wide: HealthEvent = {
    ...event,
    ...(isWhole &&
      scopeOf(event, partialDrain).kind !== 'full' && { recommendedAction: other.event.recommendedAction }),
    entitiesImpacted: [...event.entitiesImpacted, ...other.event.entitiesImpacted],
    drainOverrides: force ? { force, skip: false } : event.drainOverrides,
  };
  const requestedBy = waitsForNobody(other) ? other.requestedBy : request.requestedBy;
  const allPods = isForAllPods(request) || isForAllPods(other);
  return { ...request, requestedBy, event: wide, ...(allPods && { allPods }) };
}
