/** Repair and protection blocks, policies and configurations: mostly valid, some not, all of which Curfew must cope with. */
import { formatDuration, nanosecondsToDuration, parseGoDuration } from '../../../shared/domain/go-duration.ts';
import { isObject } from '../../../packages/kube-apiserver/src/json.ts';
import type { JsonObject, JsonValue } from '../../../shared/domain/kubernetes-object.ts';
import { minutes, seconds, type DurationMs } from '../../../shared/domain/time.ts';
import type { Random } from '../../random.ts';
import type { Manifest } from '../../scenario/scenario.ts';
import { pickSome, pickWeighted, times } from './draw.ts';
import { withTerms } from './entry-terms.ts';
import { toManifest } from './model.ts';

const TOLERATIONS: readonly DurationMs[] = [
  seconds(0),
  seconds(1),
  seconds(30),
  minutes(1),
  minutes(3),
  minutes(5),
  minutes(12),
  minutes(16),
  minutes(30),
  minutes(45),
];
/** The provider's. */
export const DEFAULT_TOLERATIONS: readonly DurationMs[] = [minutes(10), minutes(30)];
const BAD_DURATIONS: readonly JsonValue[] = ['5 minutes', '-5m', '', '4d', 300, null, '1h ', 'Inf'];
const CONDITION_TYPES = [
  'Ready',
  'AcceleratedHardwareReady',
  'StorageReady',
  'NetworkingReady',
  'KernelReady',
  'ContainerRuntimeReady',
  'NetworkUnavailable',
] as const;
const BAD_COUNTS: readonly JsonValue[] = ['150%', '-1', -1, 'half', 2.5, '20', true];
const POOL_LABELS: Readonly<Record<string, readonly string[]>> = { team: ['a', 'b'], tier: ['web', 'batch', 'gpu'] };

/** Remembers each toleration in `used`. */
export function drawRepairBlock(random: Random, used: DurationMs[]): JsonValue {
  if (random.chance(0.25)) return {};
  if (random.chance(0.06)) return random.pick<JsonValue>([[], 'on', true, { tolerations: [] }]);
  const toleration = (): JsonValue => {
    if (random.chance(0.03)) return random.pick(BAD_DURATIONS);
    const duration = random.pick(TOLERATIONS);
    used.push(duration);
    return random.chance(0.2) ? `${duration / 1000}s` : formatDuration(duration);
  };
  const types = pickSome(random, CONDITION_TYPES, 0.3);
  if (types[0] !== undefined && random.chance(0.03)) types.push(types[0]);
  const block: JsonObject = {
    ...(random.chance(0.6) && { defaultTolerationDuration: toleration() }),
    ...(types.length > 0 && {
      policies: types.map(conditionType => ({ conditionType, toleration: toleration() })),
    }),
    ...(random.chance(0.6) && { maxUnhealthy: drawMaxUnhealthy(random) }),
  };
  return withTerms(random.stream(`terms ${used.length}`), block, () => ({}));
}

function drawMaxUnhealthy(random: Random): JsonValue {
  if (random.chance(0.04)) return random.pick(BAD_COUNTS);
  return random.chance(0.5)
    ? random.pick([0, 1, 2, 3, 5, 10, 30])
    : `${random.pick([0, 1, 10, 20, 25, 33, 50, 67, 99, 100])}%`;
}

/** In the form of a merge patch that replaces a block whatever it was. */
export function replacingBlock(block: JsonValue): JsonValue {
  if (!isObject(block)) return block;
  return {
    defaultTolerationDuration: null,
    policies: null,
    terminationGracePeriod: null,
    maxUnhealthy: null,
    ...block,
  };
}

export function drawProtectionBlock(random: Random, used: DurationMs[]): JsonValue {
  const duration = (): JsonValue => {
    if (random.chance(0.05)) return random.pick(BAD_DURATIONS);
    const text = random.pick(['30s', '5m', '20m', '1h', '3h']);
    used.push(durationOf(text));
    return text;
  };
  return {
    ...(random.chance(0.6) && {
      compatibility: random.chance(0.05) ? 'karpenter' : random.pick(['Design', 'Karpenter']),
    }),
    ...(random.chance(0.5) && { maxDuration: duration() }),
    ...(random.chance(0.4) && { warnBefore: duration() }),
    ...(random.chance(0.3) && { namespaces: [{ name: random.pick(['prod', 'batch']), maxDuration: duration() }] }),
    ...(random.chance(0.03) && { maxduration: '1h' }),
  };
}

/** 0 for a text that is not a Go duration: the generator draws some. */
export function durationOf(text: string): DurationMs {
  const parsed = parseGoDuration(text);
  return parsed.ok ? nanosecondsToDuration(parsed.nanoseconds) : seconds(0);
}

export function drawPoolLabels(random: Random): Readonly<Record<string, string>> {
  const labels = Object.entries(POOL_LABELS).filter(() => random.chance(0.7));
  return Object.fromEntries(labels.map(([key, values]) => [key, random.pick(values)]));
}

function drawSelector(random: Random): JsonValue {
  const keys = pickSome(random, Object.entries(POOL_LABELS), 0.5);
  const matchLabels = random.chance(0.5);
  if (matchLabels) return { matchLabels: Object.fromEntries(keys.map(([key, values]) => [key, random.pick(values)])) };
  return {
    matchExpressions: keys.map(([key, values]) => {
      const operator = random.pick(['In', 'NotIn', 'Exists', 'DoesNotExist']);
      return {
        key,
        operator,
        ...(operator.endsWith('In') && { values: pickSome(random, values, 0.6).concat(values[0] ?? '') }),
      };
    }),
  };
}

export function drawPolicy(random: Random, name: string, used: DurationMs[]): Manifest {
  return toManifest(
    {
      apiVersion: 'curfew.dev/v1alpha1',
      kind: 'NodeLifecyclePolicy',
      metadata: { name },
      spec: {
        ...(random.chance(0.8) && { nodePoolSelector: drawSelector(random) }),
        ...(random.chance(0.4) && { mode: random.pick(['Enforce', 'Observe']) }),
        ...(random.chance(0.6) && { repair: drawRepairBlock(random, used) }),
        ...(random.chance(0.6) && { protection: drawProtectionBlock(random, used) }),
        ...drawDrainLimits(random.stream(`drain ${name}`)),
      },
    },
    name,
  );
}

/** How many drains at once, and how long one may take; now and then a block that cannot be read. */
export function drawDrainLimits(random: Random): JsonObject {
  if (random.chance(0.6)) return {};
  const deadline = random.chance(0.5) ? random.pick(['2m', '10m', '1h', '4h']) : undefined;
  return {
    drain: {
      ...(random.chance(0.8) && { maxConcurrent: random.pick<JsonValue>([1, 1, 1, 2, '20%', '50%']) }),
      ...(deadline !== undefined && { deadline }),
      ...(deadline !== undefined && random.chance(0.5) && { onDeadline: random.pick(['Fail', 'Force']) }),
      ...(random.chance(0.03) && { maxConcurrent: random.pick(BAD_COUNTS) }),
    },
  };
}

export function drawPool(random: Random, name: string, used: DurationMs[]): Manifest {
  return toManifest(
    {
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodePool',
      metadata: { name, labels: drawPoolLabels(random) },
      spec: random.chance(0.7) ? { repair: drawRepairBlock(random, used) } : {},
    },
    name,
  );
}

/** The text of `config.toml`; undefined: no ConfigMap. */
export function drawConfig(random: Random): string | undefined {
  return pickWeighted(random, [
    [16, '[featureGates]\nnodeRepair = true\n'],
    [2, '[featureGates]\nnodeRepair = false\n'],
    [1, '[featureGates]\nnodeRepair = "yes"\n'],
    [1, '[featureGates\nnodeRepair = true\n'],
    [1, ''],
    [1, undefined],
  ]);
}

/** @param config TOML */
export function configMapOf(config: string): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'curfew', name: 'curfew-config' },
    data: { 'config.toml': config },
  };
}

/** Names `prefix-1`, `prefix-2`, … */
export function names(prefix: string, count: number): readonly string[] {
  return times(count).map(index => `${prefix}-${index + 1}`);
}
