/**
 * What earlier versions stored, as this one reads it. A pool had the attempts of all its nodes in its own record; each goes into the record
 * of its node with the next pass that knows the actions of its pool (`carry-over.ts`). Pure.
 */
import { instant } from '../../shared/contract/instant.ts';
import * as z from '../../shared/contract/zod.ts';
import { isJsonObject } from '../../shared/domain/json.ts';
import type { JsonObject } from '../../shared/domain/kubernetes-object.ts';
import type { CarriedAttempt } from './state.ts';

const named = z.object({ name: z.string(), uid: z.string() });

const resource = z.object({
  group: z.string(),
  version: z.string(),
  resource: z.string(),
  namespace: z.optional(z.string()),
  name: z.string(),
});

const rungType = z.enum(['Reboot', 'Drain', 'CustomResource', 'Terminate']);

const schema = z.object({
  number: z.int().check(z.positive()),
  phase: z.enum(['intended', 'refused', 'accepted', 'observed']),
  intendedTime: instant,
  node: named,
  claim: z.optional(named),
  incident: z.object({
    conditionType: z.string(),
    conditionStatus: z.string(),
    lastTransitionTime: instant,
    dueTime: instant,
  }),
  rung: z.int().check(z.minimum(0)),
  action: rungType,
  carriedOut: z.optional(z.object({ rung: z.int().check(z.minimum(0)), action: rungType })),
  until: z.optional(instant),
  answer: z.optional(z.object({ kind: z.enum(['succeeded', 'failed', 'stopped']), message: z.string() })),
  notTaken: z.optional(z.literal(true)),
  terminationTimestamp: z.optional(z.string()),
  previousTimestamp: z.optional(z.string()),
  bootID: z.optional(z.string()),
  requestId: z.optional(z.string()),
  resources: z.optional(z.array(z.extend(resource, { uid: z.string() }))),
  mayHaveMade: z.optional(z.array(resource)),
  /** The repair is over, and this could not be taken back. */
  isLeft: z.optional(z.literal(true)),
});

export const attemptOfBefore = (value: unknown): CarriedAttempt => schema.parse(value);

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as readonly unknown[]) : []);

/** The state of a pool's record, whichever version wrote it. */
export function poolOfBefore(state: JsonObject): JsonObject {
  if (!Array.isArray(state['attempts'])) return state;
  const attempts = listOf(state['attempts']).map(attemptOfBefore);
  const left = listOf(state['left']).flatMap(each =>
    isJsonObject(each) ? [{ ...attemptOfBefore(each['attempt']), isLeft: true as const }] : [],
  );
  const under = attempts.filter(({ phase }) => phase !== 'observed');
  const { outages = [], repairs = [], ramp } = state;
  const next: JsonObject = JSON.parse(
    JSON.stringify({
      inFlight: Object.fromEntries(under.map(({ node, intendedTime }) => [node.uid, intendedTime])),
      held: outages,
      ...(ramp !== undefined && { ramp }),
      terminations: repairs,
      counts: { held: 0, repairing: under.length },
      carried: [...attempts, ...left],
    }),
  );
  return next;
}

const incidentOfBefore = z.object({
  conditionType: z.string(),
  conditionStatus: z.string(),
  lastTransitionTime: instant,
});

const clockOf = ({ conditionType, conditionStatus, lastTransitionTime: time }: z.output<typeof incidentOfBefore>) => ({
  [`${conditionType}=${conditionStatus}`]: { start: time, stated: time },
});

/** The state of a node's record, whichever version wrote it. Version 1 kept an attempt, which version 2 had in the record of the pool. */
export function nodeOfBefore(state: JsonObject): JsonObject {
  if (state['clocks'] !== undefined) return state;
  const { incident, pool, episodes = [] } = state;
  const clocks = incident === undefined ? {} : clockOf(incidentOfBefore.parse(incident));
  return {
    name: '',
    ...(pool !== undefined && { pool }),
    clocks,
    acts: [],
    number: 0,
    episodes,
  };
}
