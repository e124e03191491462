/** The record of a node as versions 1 and 2 stored it. */
import { instant } from '../../shared/contract/instant.ts';
import * as z from '../../shared/contract/zod.ts';
import type { JsonObject } from '../../shared/domain/kubernetes-object.ts';

const conditionOfBefore = z.object({
  conditionType: z.string(),
  conditionStatus: z.string(),
  lastTransitionTime: instant,
});

const onsetOf = ({ conditionType, conditionStatus, lastTransitionTime: time }: z.output<typeof conditionOfBefore>) => ({
  [`${conditionType}=${conditionStatus}`]: { start: time, stated: time },
});

/** The state of the record of a node that an earlier version wrote. Its attempt was that of version 1; version 2 had it in the record of the pool. */
export function nodeOfBefore({ incident, pool, episodes = [] }: JsonObject): JsonObject {
  const onsets = incident === undefined ? {} : onsetOf(conditionOfBefore.parse(incident));
  return { name: '', ...(pool !== undefined && { pool }), onsets, acts: [], number: 0, episodes };
}
