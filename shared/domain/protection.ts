/**
 * The one answer to "is this pod protected from disruption?", for every function that asks (I2).
 * Source: docs/do-not-disrupt.md; where `compatibility: Karpenter` is set, what Karpenter ≥ 1.12 answers:
 *
 * |                          | Design                        | Karpenter                          |
 * | ------------------------ | ----------------------------- | ---------------------------------- |
 * | `"true"`                 | protected without end         | protected without end              |
 * | positive Go duration     | until creationTimestamp + it  | until status.startTime + it        |
 * | start not known          | protected without end         | protected without end              |
 * | anything else            | protected without end         | ignored                            |
 *
 * At the expiry itself the protection is over. Finished and terminating pods protect nothing. A cap (`maxDuration`) shortens
 * every protection, the ones without end included, and never lengthens one.
 */
import { nanosecondsToDuration, parseGoDuration } from './go-duration.ts';
import { DO_NOT_DISRUPT_ANNOTATION, isFinished, isTerminating, type PodView } from './pod.ts';
import { addDuration, isDue, rightAfter, type DurationMs, type EpochMs } from './time.ts';

export const COMPATIBILITIES = ['Design', 'Karpenter'] as const;
/** The set of rules by which the annotation is read. */
export type Compatibility = (typeof COMPATIBILITIES)[number];

/** A protection as an annotation value asks for it. */
export type DoNotDisrupt =
  | { readonly kind: 'indefinite' }
  | { readonly kind: 'limited'; readonly duration: DurationMs }
  /** Neither `"true"` nor a positive duration. `problem` is Go's error, or says that it is not positive. */
  | { readonly kind: 'invalid'; readonly problem: string; readonly effect: 'indefinite' | 'ignored' };

/** An annotation may have 256 KB, which would take a second to read; a duration never needs as much. */
const MAX_BYTES = 256;
/** A character has one byte at least. */
const isTooLong = (value: string): boolean =>
  value.length > MAX_BYTES || new TextEncoder().encode(value).length > MAX_BYTES;

/** Reads the value of the annotation on a pod. A duration that is not in whole milliseconds is rounded up. Never throws. */
export function parseDoNotDisrupt(value: string, compatibility: Compatibility): DoNotDisrupt {
  if (value === 'true') return { kind: 'indefinite' };
  const effect = compatibility === 'Design' ? 'indefinite' : 'ignored';
  if (isTooLong(value)) return { kind: 'invalid', problem: `it is longer than ${MAX_BYTES} bytes`, effect };
  const parsed = parseGoDuration(value);
  if (!parsed.ok) return { kind: 'invalid', problem: parsed.error, effect };
  if (parsed.nanoseconds <= 0n) return { kind: 'invalid', problem: 'the duration must be positive', effect };
  return { kind: 'limited', duration: nanosecondsToDuration(parsed.nanoseconds) };
}

/** The `protection` block that applies to the nodes of a pool. */
export interface ProtectionPolicy {
  /** `Unknown`: the block cannot be read, so whatever either rule set protects is protected (I6). */
  readonly compatibility: Compatibility | 'Unknown';
  /** No protection lasts longer than this from the pod's start. */
  readonly maxDuration: DurationMs | undefined;
  /** Keyed by namespace, in place of `maxDuration`. */
  readonly maxDurations: ReadonlyMap<string, DurationMs>;
  /** A warning Event this long before each expiry; absent: none. */
  readonly warnBefore: DurationMs | undefined;
}

/** In force where no policy says otherwise. */
export const DEFAULT_PROTECTION_POLICY: ProtectionPolicy = {
  compatibility: 'Design',
  maxDuration: undefined,
  maxDurations: new Map(),
  warnBefore: undefined,
};

/** The annotation, parsed: plain `"true"`, a duration, or something that is neither. */
export type ProtectionSource = 'True' | 'Duration' | 'Invalid';

/** A pod's protection, whatever the time. */
export type Protection =
  | { readonly kind: 'none'; readonly reason: 'NotAnnotated' | 'Finished' | 'Terminating' | 'Ignored' }
  | {
      readonly kind: 'indefinite';
      readonly source: ProtectionSource;
      /** `NotStarted`: the clock does not run yet; it will end some time after it does. */
      readonly reason: 'Declared' | 'NotStarted';
    }
  | {
      readonly kind: 'until';
      readonly source: ProtectionSource;
      readonly expiry: EpochMs;
      /** The cap that shortened it. */
      readonly cappedTo: DurationMs | undefined;
    };

type ProtectedPod = Pick<
  PodView,
  'namespace' | 'annotations' | 'phase' | 'creationTime' | 'startTime' | 'deletionTime'
>;

/** The protection that a pod has under a policy; `isActive` tells whether it is in force at an instant. */
export function protectionOf(pod: ProtectedPod, policy: ProtectionPolicy): Protection {
  const value = pod.annotations[DO_NOT_DISRUPT_ANNOTATION];
  if (value === undefined) return { kind: 'none', reason: 'NotAnnotated' };
  if (isFinished(pod)) return { kind: 'none', reason: 'Finished' };
  if (isTerminating(pod)) return { kind: 'none', reason: 'Terminating' };
  const cap = maxDurationFor(pod.namespace, policy);
  if (policy.compatibility !== 'Unknown') return underCompatibility(pod, value, policy.compatibility, cap);
  return longer(underCompatibility(pod, value, 'Design', cap), underCompatibility(pod, value, 'Karpenter', cap));
}

/** Whether a protection is in force at `now`. */
export function isActive(protection: Protection, now: EpochMs): boolean {
  if (protection.kind === 'until') return !isDue(now, protection.expiry);
  return protection.kind === 'indefinite';
}

/**
 * Until when a pod that has to go is left alone; undefined: it may go now. `until` is an instant after the end of its protection: the Event
 * that says so comes first, since there is nobody to say it of once the pod has gone. An absent `until`: without end.
 */
export function protectedWait(
  protection: Protection,
  now: EpochMs,
): { readonly until: EpochMs | undefined } | undefined {
  if (protection.kind === 'none') return undefined;
  if (protection.kind === 'indefinite') return { until: undefined };
  const until = rightAfter(protection.expiry);
  return isDue(now, until) ? undefined : { until };
}

/** Whether the pod must not be disrupted at `now`. */
export function isProtected(pod: ProtectedPod, now: EpochMs, policy: ProtectionPolicy): boolean {
  return isActive(protectionOf(pod, policy), now);
}

/** The cap on protections in a namespace: its own, else that of the pool. */
export function maxDurationFor(namespace: string, policy: ProtectionPolicy): DurationMs | undefined {
  return policy.maxDurations.get(namespace) ?? policy.maxDuration;
}

function underCompatibility(
  pod: ProtectedPod,
  value: string,
  compatibility: Compatibility,
  cap: DurationMs | undefined,
): Protection {
  const asked = parseDoNotDisrupt(value, compatibility);
  if (asked.kind === 'invalid' && asked.effect === 'ignored') return { kind: 'none', reason: 'Ignored' };
  const source = asked.kind === 'indefinite' ? 'True' : asked.kind === 'limited' ? 'Duration' : 'Invalid';
  const askedDuration = asked.kind === 'limited' ? asked.duration : undefined;
  const isCapped = cap !== undefined && (askedDuration === undefined || cap < askedDuration);
  const duration = isCapped ? cap : askedDuration;
  if (duration === undefined) return { kind: 'indefinite', source, reason: 'Declared' };

  const start = compatibility === 'Design' ? pod.creationTime : pod.startTime;
  if (start === undefined) return { kind: 'indefinite', source, reason: 'NotStarted' };
  return { kind: 'until', source, expiry: addDuration(start, duration), cappedTo: isCapped ? cap : undefined };
}

/** The protection that lasts longer. */
function longer(a: Protection, b: Protection): Protection {
  const end = (protection: Protection): number =>
    protection.kind === 'none' ? -Infinity : protection.kind === 'until' ? protection.expiry : Infinity;
  return end(a) >= end(b) ? a : b;
}
