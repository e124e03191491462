/** How a pod is drained, told from the configuration's text: an answer of its own to what `functions/drain` decides (docs/drain.md). */
import { RE2JS } from 're2js';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { configurationOf, DRAIN_MODES } from './configuration.ts';
import { annotationOf, dig, instantOf, listOf, millisecondsOf, textOf } from './reading.ts';

export const STATE_LABEL = 'dgxc.nvidia.com/nvsentinel-state';
const MINUTE = 60_000;

export interface DrainConfig {
  /** The mode for a pod; undefined: the drain has nothing to do with it. */
  readonly modeOf: (pod: KubernetesObject) => string | undefined;
  readonly deleteAfterMs: number;
  readonly custom: { readonly timeoutMs: number; readonly fallback: string | undefined } | undefined;
}

/** Undefined: it cannot be read, and the one before it is in force, or it says nothing of drains. */
export function drainConfig(configMap: KubernetesObject | undefined): DrainConfig | undefined {
  const config = configurationOf(configMap);
  if (config === undefined) return undefined;
  const rules = listOf(dig(config, 'userNamespaces'));
  const isCustom = dig(config, 'customDrain', 'enabled') === true;
  if (!isCustom && rules.length === 0) return undefined;
  const system = textOf(dig(config, 'systemNamespaces'));
  const fallback = textOf(dig(config, 'customDrain', 'fallbackMode'));
  return {
    modeOf(pod) {
      const { namespace = '' } = pod.metadata;
      if (system !== undefined && RE2JS.compile(system).test(namespace)) return undefined;
      if (isCustom) return fallback ?? 'AllowCompletion';
      const modes = rules
        .filter(rule => globOf(String(dig(rule, 'name'))).test(namespace))
        .map(rule => dig(rule, 'mode'));
      return textOf(DRAIN_MODES.find(mode => modes.includes(mode)));
    },
    deleteAfterMs: (Number(dig(config, 'deleteAfterTimeoutMinutes') ?? 0) || 60) * MINUTE,
    custom: isCustom
      ? { timeoutMs: millisecondsOf(dig(config, 'customDrain', 'timeout')) ?? 3_600_000, fallback }
      : undefined,
  };
}

/** Of Go's patterns the generator knows `*` alone. */
const globOf = (pattern: string): RegExp => new RegExp(`^${pattern.replaceAll('*', '.*')}$`);

/** Whether a drain has to do with the pod at all, whatever its namespace. */
export function isDrainable(pod: KubernetesObject): boolean {
  const phase = dig(pod, 'status', 'phase');
  const isDaemons = (pod.metadata.ownerReferences ?? []).some(({ kind }) => kind === 'DaemonSet' || kind === 'Node');
  const isMirror = annotationOf(pod, 'kubernetes.io/config.mirror') !== undefined;
  return phase !== 'Succeeded' && phase !== 'Failed' && !isDaemons && !isMirror;
}

/** Whether nobody waits for the pod any more: it is stuck at its end, or not ready for too long. */
export function isLeftBehind(pod: KubernetesObject, now: number): boolean {
  const end = instantOf(pod.metadata.deletionTimestamp);
  const graceMs = Number(dig(pod, 'spec', 'terminationGracePeriodSeconds') ?? 30) * 1000;
  if (end !== undefined && now > end + graceMs) return true;
  const ready = listOf(dig(pod, 'status', 'conditions')).find(condition => dig(condition, 'type') === 'Ready');
  return ready !== undefined && dig(ready, 'status') !== 'True';
}

/** Of a custom resource. */
export const isComplete = (resource: KubernetesObject): boolean =>
  listOf(dig(resource, 'status', 'conditions')).some(
    condition => dig(condition, 'type') === 'DrainComplete' && dig(condition, 'status') === 'True',
  );
