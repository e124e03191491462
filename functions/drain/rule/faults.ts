/** Faults of events: the fault of an event, the recoveries that end it, and the order in which events were said. Pure. */
import type { HealthEvent } from '../../../shared/domain/health-event.ts';
import type { NodeFault, Recovery, Timestamps } from '../request-record.ts';

/** The fault of an event. Entities have the form `TYPE/VALUE`, e.g. `GPU_UUID/GPU-0`. */
export function faultOf({ agent, componentClass, checkName, entitiesImpacted, errorCode }: HealthEvent): NodeFault {
  const entities = entitiesImpacted.map(({ entityType, entityValue }) => `${entityType}/${entityValue}`);
  return { agent, componentClass, checkName, entities: unique(entities), codes: unique(errorCode) };
}

/** A `DrainRequested` in the shape of a HealthEvent. */
export const DRAIN_REQUEST = { agent: 'curfew', checkName: 'DrainRequested' } as const;

/** Whether a monitor found the fault: a request of a person, repair or another controller has nothing to do with a quarantine. */
export const isOfMonitor = ({ agent, checkName }: Pick<NodeFault, 'agent' | 'checkName'>): boolean =>
  agent !== DRAIN_REQUEST.agent || checkName !== DRAIN_REQUEST.checkName;

const unique = (texts: readonly string[]): readonly string[] => [...new Set(texts)];

export const isSameCheck = (one: NodeFault, other: NodeFault): boolean =>
  one.agent === other.agent && one.componentClass === other.componentClass && one.checkName === other.checkName;

/** Most pairs of an entity and a code that are compared one by one. A fault with more ends only by a recovery that names them all. */
const MAX_PAIRS = 10_000;

/**
 * Whether these recoveries together end `fault`. Each names entities and error codes of its check; an empty list names all. Entities that
 * recover one by one count together.
 */
export function isOver(fault: NodeFault, ends: readonly NodeFault[]): boolean {
  const ofCheck = ends.filter(end => isSameCheck(fault, end));
  // Nothing is named: the whole check, or any code in records of before.
  const entities = fault.entities.length === 0 ? [undefined] : fault.entities;
  const { codes = [] } = fault;
  const named = codes.length === 0 ? [undefined] : codes;
  const names = (end: NodeFault, entity: string | undefined, code: string | undefined): boolean =>
    namesOf(end.entities, entity) && (fault.codes === undefined || namesOf(end.codes ?? [], code));
  if (ofCheck.some(end => entities.every(entity => named.every(code => names(end, entity, code))))) return true;
  if (ofCheck.length < 2 || entities.length * named.length > MAX_PAIRS) return false;
  return entities.every(entity => named.every(code => ofCheck.some(end => names(end, entity, code))));
}

const namesOf = (named: readonly string[], one: string | undefined): boolean =>
  named.length === 0 || (one !== undefined && named.includes(one));

/** Whether the recovery is about part of the fault: together with others it may end it. */
export const isAbout = (recovery: NodeFault, fault: NodeFault): boolean =>
  isSameCheck(recovery, fault) &&
  overlaps(recovery.entities, fault.entities) &&
  overlaps(recovery.codes ?? [], fault.codes ?? []);

const overlaps = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === 0 || other.length === 0 || one.some(entity => other.includes(entity));

type SaidTime = keyof Timestamps;
/** Clocks by which events about faults are compared: the monitor's own first, since both events come from it. */
const OF_FAULTS: readonly SaidTime[] = ['generatedTime', 'createdTime', 'exportedTime', 'sentTime'];
/**
 * Clocks by which an event is compared with the end of a quarantine. The store's comes first: fault-quarantine reports that end, and
 * NVSentinel's own cut is by `createdAt`.
 */
const OF_QUARANTINES: readonly SaidTime[] = ['createdTime', 'generatedTime', 'exportedTime', 'sentTime'];

/**
 * Milliseconds by which `other` was said later than `one`, by the first clock that both state: two clocks are never compared with each other.
 * Undefined: nobody knows.
 */
function laterBy(
  one: Timestamps | undefined,
  other: Timestamps | undefined,
  clocks: readonly SaidTime[],
): number | undefined {
  for (const clock of clocks) {
    const [a, b] = [one?.[clock], other?.[clock]];
    if (a !== undefined && b !== undefined) return b - a;
  }
  return undefined;
}

/** Whether `one` was surely said before `other`: not at the same instant, nor at an unknown time. */
export const isBefore = (one: Timestamps | undefined, other: Timestamps | undefined): boolean =>
  (laterBy(one, other, OF_FAULTS) ?? 0) > 0;

/** Whether the end of a quarantine was surely said before an event under it. */
export const isBeforeQuarantine = (end: Timestamps | undefined, event: Timestamps | undefined): boolean =>
  (laterBy(end, event, OF_QUARANTINES) ?? 0) > 0;

/** Whether the event is surely from before the end of the quarantine, or from the same instant. */
export const isUnderEndedQuarantine = (event: Timestamps | undefined, end: Timestamps): boolean =>
  (laterBy(event, end, OF_QUARANTINES) ?? -1) >= 0;

/** Faults that ended, by recoveries that were not said before the event. */
export const endsSince = (recoveries: readonly Recovery[], timestamps: Timestamps | undefined): readonly NodeFault[] =>
  recoveries.filter(recovery => !isBefore(recovery.said, timestamps)).map(({ fault }) => fault);

/** Faults that ended, by recoveries that were surely said after the event. */
export const endedFaults = (
  recoveries: readonly Recovery[],
  timestamps: Timestamps | undefined,
): readonly NodeFault[] => recoveries.filter(recovery => isBefore(timestamps, recovery.said)).map(({ fault }) => fault);
