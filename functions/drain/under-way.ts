/** What a Node says of the drain under way, in the annotation `curfew.dev/drain`, for people and `curfew explain`. Pure. */
import { earliest, parseTimestamp, toExactTimestamp, type EpochMs } from '../../shared/domain/time.ts';
import type { ActiveDrain } from './model.ts';
import { FULL, type DrainScope } from './scope.ts';
import { isJsonObject } from '../../shared/domain/json.ts';

export interface UnderWay {
  readonly id: string;
  /** From when the first of its requests counts. */
  readonly since: EpochMs;
  readonly scope: DrainScope;
  readonly force: boolean;
  /** It waits until fewer nodes of its pool are drained. */
  readonly waits: boolean;
}

/** From when the first of its requests counts. */
export function sinceOf({ requests, startTime }: ActiveDrain): EpochMs {
  const times = requests.map(({ time }) => time ?? startTime);
  return times.reduce<EpochMs | undefined>(earliest, undefined) ?? startTime;
}

/** The annotation's value. */
export function describeUnderWay(active: ActiveDrain): string {
  const { id, scope, force, queue } = active;
  const entities = scope.kind === 'entities' ? { entities: scope.entities } : {};
  return JSON.stringify({
    id,
    since: toExactTimestamp(sinceOf(active)),
    ...entities,
    ...(force && { force }),
    ...(queue?.takes === false && { waits: true }),
  });
}

/** Undefined: no drain is under way, or somebody has changed the value. */
export function readUnderWay(value: string | undefined): UnderWay | undefined {
  let read: unknown;
  try {
    read = JSON.parse(value ?? '');
  } catch {
    return undefined;
  }
  if (!isJsonObject(read)) return undefined;
  const { id, since, entities, force, waits } = read;
  const time = typeof since === 'string' ? parseTimestamp(since) : undefined;
  if (typeof id !== 'string' || time === undefined) return undefined;
  const isList = Array.isArray(entities) && entities.every(each => typeof each === 'string');
  return {
    id,
    since: time,
    scope: isList ? { kind: 'entities', entities } : FULL,
    force: force === true,
    waits: waits === true,
  };
}
