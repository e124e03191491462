/**
 * Finds the kinds that objects of the cluster ask to be watched. Pure. An object that cannot be read asks for none, and
 * its function says so.
 */
import { parse as parseToml } from 'smol-toml';
import { CONFIG_MAP, FAILED_CONDITION_TYPE } from '../shared/contract/names.ts';
import type { GroupVersionKind, KubernetesObject } from '../shared/domain/kubernetes-object.ts';
import { fieldAt, textAt } from './fields.ts';

/** A kind to be watched. */
export interface WantedKind extends GroupVersionKind {
  /** Types of the conditions that say how it ends: their news does not wait for that of the others. */
  readonly endConditions?: readonly string[] | undefined;
}

/** The kind of a FinalizerRule; a missing `group` is the core group. */
export function kindOfFinalizerRule(rule: KubernetesObject): GroupVersionKind | undefined {
  return toKind(fieldAt(rule, 'spec', 'group') ?? '', textAt(rule, 'spec', 'version'), textAt(rule, 'spec', 'kind'));
}

/**
 * The kind of `[customDrain]` in the ConfigMap's TOML; `none` when it is not enabled. Undefined when the text is not TOML: the last
 * good configuration stays in force (docs/configuration.md).
 */
export function kindOfDrain(configMap: KubernetesObject): WantedKind | 'none' | undefined {
  let config: unknown;
  try {
    config = parseToml(textAt(configMap, 'data', CONFIG_MAP.key) ?? '');
  } catch {
    return undefined;
  }
  const drain = fieldAt(config, 'customDrain');
  if (fieldAt(drain, 'enabled') !== true) return 'none';
  const kind = toKind(fieldAt(drain, 'apiGroup') ?? '', textAt(drain, 'version'), textAt(drain, 'kind'));
  if (kind === undefined) return 'none';
  const failed = textAt(drain, 'failedConditionType') ?? FAILED_CONDITION_TYPE;
  const complete = textAt(drain, 'statusConditionType');
  return { ...kind, endConditions: complete === undefined ? [failed] : [complete, failed] };
}

function toKind(group: unknown, version: string | undefined, kind: string | undefined): GroupVersionKind | undefined {
  if (typeof group !== 'string' || version === undefined || kind === undefined) return undefined;
  return { group, version, kind };
}
