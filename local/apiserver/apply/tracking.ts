/** `managedFields` of writes that are not applies. */
import type { JsonObject } from '../json.ts';
import type { ServedResource } from '../resources/resource-rules.ts';
import type { WriteOptions } from '../types.ts';
import type { Request } from '../write/commit.ts';

/** One update: the stored state and the one that replaces it. */
export interface TrackedUpdate {
  readonly current: JsonObject;
  readonly next: JsonObject;
  readonly request: Request;
}

export function trackCreate(
  _served: ServedResource,
  next: JsonObject,
  _options: WriteOptions,
  _now: string,
): JsonObject {
  return next;
}

export function trackUpdate(_served: ServedResource, { next }: TrackedUpdate, _now: string): JsonObject {
  return next;
}
