/** Which fault an event is about, which recoveries end it, and what was said before what. Pure. */
import type { HealthEvent } from '../../../shared/domain/health-event.ts';
import type { Fault, Recovery, Timestamps } from '../request-record.ts';

/** Entities as `TYPE/VALUE`, e.g. `GPU_UUID/GPU-0`. */
export function faultOf({ agent, componentClass, checkName, entitiesImpacted, errorCode }: HealthEvent): Fault {
  const entities = entitiesImpacted.map(({ entityType, entityValue }) => `${entityType}/${entityValue}`);
  return { agent, componentClass, checkName, entities: unique(entities), codes: unique(errorCode) };
}

/** A `DrainRequested` in the shape of a HealthEvent. */
export const DRAIN_REQUEST = { agent: 'curfew', checkName: 'DrainRequested' } as const;

/** Whether a monitor found it: what a person, a repair or another controller asks for has nothing to do with a quarantine. */
export const isOfMonitor = ({ agent, checkName }: Pick<Fault, 'agent' | 'checkName'>): boolean =>
  agent !== DRAIN_REQUEST.agent || checkName !== DRAIN_REQUEST.checkName;

const unique = (texts: readonly string[]): readonly string[] => [...new Set(texts)];

export const isSameCheck = (one: Fault, other: Fault): boolean =>
  one.agent === other.agent && one.componentClass === other.componentClass && one.checkName === other.checkName;

/** More pairs of an entity and a code than these are not compared one by one: only a recovery that names them all ends such a fault. */
const MAX_PAIRS = 10_000;

/**
 * Whether the ends together end `fault`, too. A recovery names entities and error codes of its check, an empty list naming all; what recovers
 * one by one counts together.
 */
export function isOver(fault: Fault, ends: readonly Fault[]): boolean {
  const ofCheck = ends.filter(end => isSameCheck(fault, end));
  // Nothing is named: the whole check, or any code in records of before.
  const entities = fault.entities.length === 0 ? [undefined] : fault.entities;
  const { codes = [] } = fault;
  const named = codes.length === 0 ? [undefined] : codes;
  const names = (end: Fault, entity: string | undefined, code: string | undefined): boolean =>
    namesOf(end.entities, entity) && (fault.codes === undefined || namesOf(end.codes ?? [], code));
  if (ofCheck.some(end => entities.every(entity => named.every(code => names(end, entity, code))))) return true;
  if (ofCheck.length < 2 || entities.length * named.length > MAX_PAIRS) return false;
  return entities.every(entity => named.every(code => ofCheck.some(end => names(end, entity, code))));
}

const namesOf = (named: readonly string[], one: string | undefined): boolean =>
  named.length === 0 || (one !== undefined && named.includes(one));

/** Whether the recovery is about some of the fault: together with others it may end it. */
export const isAbout = (recovery: Fault, fault: Fault): boolean =>
  isSameCheck(recovery, fault) &&
  overlaps(recovery.entities, fault.entities) &&
  overlaps(recovery.codes ?? [], fault.codes ?? []);

const overlaps = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === 0 || other.length === 0 || one.some(each => other.includes(each));

type SaidTime = keyof Timestamps;
/** The monitor's own first: both events come from it. */
const OF_FAULTS: readonly SaidTime[] = ['generatedTime', 'createdTime', 'exportedTime', 'sentTime'];
/** The store's first: fault-quarantine says that a quarantine is over, and NVSentinel's own cut is by `createdAt`. */
const OF_QUARANTINES: readonly SaidTime[] = ['createdTime', 'generatedTime', 'exportedTime', 'sentTime'];

/**
 * How much later `other` was said than `one`, in milliseconds, by the first clock that both state: two clocks are not compared with each
 * other. Undefined: nobody knows.
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

/** What was said at the same instant, or nobody knows when, was not said before. */
export const isBefore = (one: Timestamps | undefined, other: Timestamps | undefined): boolean =>
  (laterBy(one, other, OF_FAULTS) ?? 0) > 0;

/** The same of the end of a quarantine and an event under it. */
export const isBeforeQuarantine = (end: Timestamps | undefined, event: Timestamps | undefined): boolean =>
  (laterBy(end, event, OF_QUARANTINES) ?? 0) > 0;

/** Whether the event is surely from before the end of the quarantine, or from the same instant. */
export const isUnderEndedQuarantine = (event: Timestamps | undefined, end: Timestamps): boolean =>
  (laterBy(event, end, OF_QUARANTINES) ?? -1) >= 0;

/** Those of the recoveries that count for what was said then. */
export const endsSince = (recoveries: readonly Recovery[], said: Timestamps | undefined): readonly Fault[] =>
  recoveries.filter(each => !isBefore(each.said, said)).map(({ fault }) => fault);

/** The fault is over by recoveries that were surely said after the event. */
export const endsAfter = (recoveries: readonly Recovery[], said: Timestamps | undefined): readonly Fault[] =>
  recoveries.filter(each => isBefore(said, each.said)).map(({ fault }) => fault);
