/** Names the place of the setting that decided, as `details.decidedBy` of audit lines has it. */
import type { JsonObject } from '../domain/kubernetes-object.ts';

/**
 * @param source whose it is, as `NodeLifecyclePolicy web`
 * @param field its path, as `spec.repair.maxUnhealthy`
 * @returns undefined where a default decided
 */
export function settingPath(source: string | undefined, field: string): JsonObject | undefined {
  const [kind = '', name] = source?.split(' ') ?? [];
  return name === undefined ? undefined : { kind, name, field };
}
