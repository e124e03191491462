/**
 * Annotations of a Node about its drain: the request of a person and its answer, and the drain under way, for people and `curfew explain`. Pure;
 * part of `decide`.
 */
import type { HealthEvent } from '../../../shared/domain/health-event.ts';
import { isJsonObject, readJson } from '../../../shared/domain/json.ts';
import { DRAIN_STATES, REMEDIATING, STATE_LABEL } from '../../../shared/domain/quarantine.ts';
import { earliest, parseTimestamp, toExactTimestamp, type EpochMs } from '../../../shared/domain/time.ts';
import { DRAIN_REQUEST } from './faults.ts';
import type { IncomingMessage, DrainedNode, DrainObservation } from './observation.ts';
import { goesForAllPods, isAskedByRepair, isEnding, openPhaseOf, openRequests } from './phase.ts';
import { FULL, type DrainScope } from './pods.ts';
import type { ActiveDrain, DrainRecord, Cordon } from '../record.ts';
import type { DrainRequest } from '../request-record.ts';

export interface DrainUnderWay {
  readonly id: string;
  /** Time from which the first of its requests counts. */
  readonly since: EpochMs;
  readonly scope: DrainScope;
  readonly force: boolean;
  /** All pods go, whatever the configuration says. */
  readonly allPods?: boolean;
  /** It waits until fewer nodes of its pool are drained. */
  readonly isWaiting: boolean;
}

/** Time from which the first of its requests counts. */
export function firstRequestTimeOf({ requests, startTime }: ActiveDrain): EpochMs {
  const times = requests.map(({ time }) => time ?? startTime);
  return times.reduce<EpochMs | undefined>(earliest, undefined) ?? startTime;
}

/** The value of the annotation `curfew.dev/drain`. */
export function describeUnderWay(active: ActiveDrain): string {
  const { id, scope, force } = active;
  const phase = openPhaseOf(active);
  const allPods = goesForAllPods(active);
  const entities = scope.kind === 'entities' ? { entities: scope.entities } : {};
  return JSON.stringify({
    id,
    since: toExactTimestamp(firstRequestTimeOf(active)),
    ...entities,
    ...(force && { force }),
    ...(allPods && { allPods }),
    ...(phase.kind === 'waiting' && !phase.takesSlot && { waits: true }),
  });
}

/** Reads the annotation; undefined: no drain is under way, or somebody has changed the value. */
export function readUnderWay(value: string | undefined): DrainUnderWay | undefined {
  const read = readJson(value);
  if (!isJsonObject(read)) return undefined;
  const { id, since, entities, force, allPods, waits } = read;
  const time = typeof since === 'string' ? parseTimestamp(since) : undefined;
  if (typeof id !== 'string' || time === undefined) return undefined;
  const isList = isTextList(entities);
  return {
    id,
    since: time,
    scope: isList ? { kind: 'entities', entities } : FULL,
    force: force === true,
    allPods: allPods === true,
    isWaiting: waits === true,
  };
}

/** `requestedBy` of a request by annotation. */
export const NODE_ANNOTATION = 'node-annotation';
/** Most characters of an id, as in `DrainRequested`. */
const MAX_ID_LENGTH = 253;

/** The id that the annotation's value stands for; undefined: nothing is asked for. */
export function requestedId(value: string | undefined): string | undefined {
  const id = value?.trim().slice(0, MAX_ID_LENGTH);
  return id === '' ? undefined : id;
}

/** The request in the annotation, or its withdrawal, that the record does not know yet. */
export function requestOnNode(
  { name, requestedId: requestId, answer }: Pick<DrainedNode, 'name' | 'requestedId' | 'answer'>,
  record: DrainRecord,
): IncomingMessage | undefined {
  const { active, requests } = record;
  const open = [...requests, ...openRequests(record)];
  const withdrawn = open.find(({ id, requestedBy }) => requestedBy === NODE_ANNOTATION && id !== requestId);
  if (withdrawn !== undefined) return { kind: 'withdrawn', id: withdrawn.id };
  if (requestId === undefined) return undefined;
  const known = [...requests, ...(active?.requests ?? [])];
  if (known.some(({ id }) => id === requestId)) return undefined;
  // The Node says so itself, also when the record is lost. One that has ended and lacks its answer is answered again: the API server has
  // forgotten that, as etcd does that is given an earlier state.
  if (answer?.id === requestId) return undefined;
  const event = toHealthEvent({ id: requestId, nodeName: name, message: 'asked for by an annotation', force: false });
  return {
    kind: 'askedOnNode',
    request: { id: requestId, requestedBy: NODE_ANNOTATION, event, quarantine: undefined },
  };
}

/**
 * The record without the request that the Node itself answers. The end of a drain is in the record before its answer is on the Node. So such a
 * record is that of a table which was restored from a backup.
 */
export function withoutAnswered(record: DrainRecord, { answer }: Pick<DrainedNode, 'answer'>): DrainRecord {
  if (answer === undefined) return record;
  const { active } = record;
  const isOpen = ({ id, requestedBy }: DrainRequest): boolean => requestedBy !== NODE_ANNOTATION || id !== answer.id;
  const requests = record.requests.filter(isOpen);
  if (active === undefined || isEnding(active)) return { ...record, requests };
  const running = active.requests.filter(isOpen);
  const { active: _, ...others } = record;
  return running.length === 0
    ? { ...others, requests }
    : { ...record, requests, active: { ...active, requests: running } };
}

/** The end of the drain that was asked for on the Node. */
export interface Answer {
  readonly id: string;
  readonly status: string;
  readonly message: string;
  readonly left: readonly string[];
}

/** Reads the annotation about the drain that was last asked for on the Node; undefined for anything that Curfew does not write. */
export function readAnswer(value: string | undefined): Answer | undefined {
  const read = readJson(value);
  if (!isJsonObject(read)) return undefined;
  const { id, status, message, left = [] } = read;
  if (typeof id !== 'string' || typeof status !== 'string' || typeof message !== 'string') return undefined;
  return isTextList(left) ? { id, status, message, left } : undefined;
}

const isTextList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every(each => typeof each === 'string');

/** The cordon of a drain. It cordons a node that is not cordoned, also one that is quarantined by a taint: pods that tolerate that must not come. */
export function cordonFor(active: ActiveDrain, node: DrainedNode): Cordon {
  const { cordon, id } = active;
  const { quarantine, unschedulable, cordonMark } = node;
  const isOwn = needsOwnCordon(active, node);
  const isQuarantined = quarantine !== undefined;
  // The quarantine may begin after the drain: its end ends the requests of monitors all the same.
  if (cordon !== undefined) return { quarantined: cordon.quarantined || isQuarantined, by: isOwn ? 'own' : cordon.by };
  const isOthers = unschedulable && cordonMark !== id && !isOwn;
  return { quarantined: isQuarantined, by: isOthers ? 'other' : 'own' };
}

/** Whether somebody has uncordoned the node since a drain or a repair of ours cordoned it. */
export const hasStaleCordonMark = ({
  cordonMark,
  uncordonedMark,
  isCordonedByRepair,
  unschedulable,
}: DrainedNode): boolean =>
  uncordonedMark !== undefined || (!unschedulable && (cordonMark !== undefined || isCordonedByRepair === true));

/** The mark that is left of our cordon if somebody has uncordoned the node. */
export const uncordonedMarkOf = ({ cordonMark, uncordonedMark, unschedulable }: DrainedNode): string | undefined =>
  unschedulable ? uncordonedMark : (cordonMark ?? uncordonedMark);

/** Whether the drain needs a cordon mark of its own: a repair opens the node at its end, and somebody else asks for the drain, too. */
const needsOwnCordon = ({ requests }: ActiveDrain, { isCordonedByRepair, cordonMark }: DrainedNode): boolean =>
  isCordonedByRepair === true && cordonMark === undefined && !requests.every(isAskedByRepair);

export function isPrepared({ node }: DrainObservation, active: ActiveDrain, showDraining: boolean): boolean {
  if (active.cordon === undefined || !node.isWatched || node.underWay !== describeUnderWay(active)) return false;
  const { by, quarantined } = cordonFor(active, node);
  if (by !== active.cordon.by || quarantined !== active.cordon.quarantined) return false;
  const state = node.labels[STATE_LABEL];
  return !showDraining || state === DRAIN_STATES.draining || state === REMEDIATING;
}

/** A request for a drain in the shape of a HealthEvent, as templates know it. */
export function toHealthEvent({ id, nodeName, message, force }: WantedDrain): HealthEvent {
  return {
    id,
    nodeName,
    version: 1,
    ...DRAIN_REQUEST,
    componentClass: '',
    isFatal: false,
    isHealthy: false,
    message,
    recommendedAction: 0,
    customRecommendedAction: '',
    errorCode: [],
    entitiesImpacted: [],
    metadata: {},
    generatedTimestamp: undefined,
    quarantineOverrides: undefined,
    drainOverrides: force ? { force, skip: false } : undefined,
    processingStrategy: 1,
  };
}

interface WantedDrain {
  readonly id: string;
  readonly nodeName: string;
  readonly message: string;
  readonly force: boolean;
}
