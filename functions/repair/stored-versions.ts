/**
 * The records of earlier versions: of a pool as versions 1 to 4 stored it, with the attempts at its nodes, and of a node
 * as versions 1 and 2 did.
 */
import { actionType, answer, dueCondition, named } from './node/attempt-record.ts';
import { madeResource } from './node/record.ts';
import { instant } from '../../shared/contract/instant.ts';
import * as z from '../../shared/contract/zod.ts';
import { storedName } from '../../shared/custom-resource/stored-name.ts';
import { isJsonObject, listIn, toJson } from '../../shared/domain/json.ts';
import type { JsonObject } from '../../shared/domain/kubernetes-object.ts';

export const oldAttempt = z.object({
  number: z.int().check(z.positive()),
  phase: z.enum(['intended', 'refused', 'accepted', 'observed']),
  intendedTime: instant,
  node: named,
  claim: z.optional(named),
  incident: dueCondition,
  rung: z.int().check(z.minimum(0)),
  action: actionType,
  carriedOut: z.optional(z.object({ rung: z.int().check(z.minimum(0)), action: actionType })),
  until: z.optional(instant),
  answer: z.optional(answer),
  notTaken: z.optional(z.literal(true)),
  terminationTimestamp: z.optional(z.string()),
  previousTimestamp: z.optional(z.string()),
  bootID: z.optional(z.string()),
  requestId: z.optional(z.string()),
  resources: z.optional(z.list(madeResource)),
  mayHaveMade: z.optional(z.list(storedName)),
  /** The repair is over, and this could not be taken back. */
  isLeft: z.optional(z.literal(true)),
});

/** An attempt as an earlier version had it in the record of its pool. */
export type OldAttempt = Readonly<z.output<typeof oldAttempt>>;

/** The state of the record of a pool that an earlier version wrote. */
export function upgradePool(state: JsonObject): JsonObject {
  const attempts = listIn(state, 'attempts').map(each => oldAttempt.parse(each));
  const leftAttempts = listIn(state, 'left').flatMap(each =>
    isJsonObject(each) ? [{ ...oldAttempt.parse(each['attempt']), isLeft: true as const }] : [],
  );
  const under = attempts.filter(({ phase }) => phase !== 'observed');
  const { outages = [], repairs = [], ramp } = state;
  return toJson({
    inFlight: Object.fromEntries(under.map(({ node, intendedTime }) => [node.uid, intendedTime])),
    blockingGuards: outages,
    ...(ramp !== undefined && { ramp }),
    terminations: repairs,
    counts: { blocked: 0, repairing: under.length },
    oldAttempts: [...attempts, ...leftAttempts],
  });
}

const oldCondition = z.object({
  conditionType: z.string(),
  conditionStatus: z.string(),
  lastTransitionTime: instant,
});

const onsetOf = ({ conditionType, conditionStatus, lastTransitionTime: time }: z.output<typeof oldCondition>) => ({
  [`${conditionType}=${conditionStatus}`]: { start: time, stated: time },
});

/** The state of the record of a node that an earlier version wrote. Its attempt was that of version 1; version 2 had it in the record of the pool. */
export function upgradeNode({ incident, pool, episodes = [] }: JsonObject): JsonObject {
  const onsets = incident === undefined ? {} : onsetOf(oldCondition.parse(incident));
  return { name: '', ...(pool !== undefined && { pool }), onsets, acts: [], number: 0, episodes };
}
