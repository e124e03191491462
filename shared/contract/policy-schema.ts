/**
 * Reads the `repair` block of a NodePool and the spec of a NodeLifecyclePolicy. Strict: a misspelt field or a duration that does
 * not parse makes the whole block invalid, with a message that names the path, because a repair must not rest on a guess (I8).
 */
import * as z from './zod.ts';
import { nanosecondsToDuration, parseGoDuration } from '../domain/go-duration.ts';
import type { LabelSelector } from '../domain/label-selector.ts';
import { DEFAULT_MAX_UNHEALTHY, type NodeCount, type RepairSettings } from '../domain/repair-policy.ts';
import type { DurationMs } from '../domain/time.ts';

export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly message: string };

/** A Go duration that is not negative. */
const toleration = z.pipe(
  z.string(),
  z.transform((text: string, { issues }): DurationMs => {
    const duration = parseGoDuration(text);
    if (duration.ok && duration.nanoseconds >= 0n) return nanosecondsToDuration(duration.nanoseconds);
    const message = duration.ok ? `must not be negative, got ${JSON.stringify(text)}` : duration.error;
    issues.push({ code: 'custom', message, input: text });
    return z.NEVER;
  }),
);

/** IntOrString, as PodDisruptionBudgets have it: `3` or `"30%"`. */
const nodeCount = z.union(
  [
    z.pipe(
      z.int().check(z.minimum(0)),
      z.transform((count: number): NodeCount => ({ count })),
    ),
    z.pipe(
      z.string().check(z.regex(/^(\d|[1-9]\d|100)%$/)),
      z.transform((text: string): NodeCount => ({ percent: Number(text.slice(0, -1)) })),
    ),
  ],
  'must be a whole number that is not negative, or a percentage from "0%" to "100%"',
);

const repairBlockSchema = z
  .strictObject({
    defaultTolerationDuration: z.optional(toleration),
    policies: z._default(z.array(z.strictObject({ conditionType: z.string().check(z.minLength(1)), toleration })), []),
    maxUnhealthy: z._default(nodeCount, DEFAULT_MAX_UNHEALTHY),
  })
  .check(
    z.superRefine(({ policies }, context) => {
      policies.forEach(({ conditionType }, index) => {
        if (policies.findIndex(policy => policy.conditionType === conditionType) === index) return;
        context.addIssue({
          code: 'custom',
          path: ['policies', index, 'conditionType'],
          message: `must not repeat ${JSON.stringify(conditionType)}`,
        });
      });
    }),
  );

const repairSchema = z.pipe(
  repairBlockSchema,
  z.transform(
    ({ defaultTolerationDuration, policies, maxUnhealthy }: z.output<typeof repairBlockSchema>): RepairSettings => ({
      tolerations: new Map(policies.map(policy => [policy.conditionType, policy.toleration])),
      defaultToleration: defaultTolerationDuration,
      maxUnhealthy,
    }),
  ),
);

/** `metav1.LabelSelector`. */
export const labelSelectorSchema = z.strictObject({
  matchLabels: z.optional(z.record(z.string(), z.string())),
  matchExpressions: z.optional(
    z.array(
      z
        .strictObject({
          key: z.string().check(z.minLength(1)),
          operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']),
          values: z.optional(z.array(z.string())),
        })
        .check(
          z.refine(
            // NotIn of nothing would select everything.
            ({ operator, values = [] }) => (operator === 'In' || operator === 'NotIn') === values.length > 0,
            'must have values for In and NotIn, and none for Exists and DoesNotExist',
          ),
        ),
    ),
  ),
});

export const MODES = ['Enforce', 'Observe'] as const;
/** `Observe` decides and reports, and changes nothing. */
export type Mode = (typeof MODES)[number];

/** The parts of a policy that stand beside its `repair` block, which is parsed only where it is used. */
export interface PolicyFrame {
  readonly nodePoolSelector: LabelSelector;
  readonly mode: Mode;
}

const nodePoolSelector = z._default(labelSelectorSchema, {});

/** Strict, so that a misspelt block or mode does not pass for an absent one; what the blocks hold is read by their own schemas. */
const policyFrameSchema = z.strictObject({
  nodePoolSelector,
  mode: z._default(z.enum(MODES), 'Enforce'),
  repair: z.optional(z.unknown()),
  protection: z.optional(z.unknown()),
  termination: z.optional(z.unknown()),
});

/** Parses a `repair` block; `{}` means on, with the provider's defaults. */
export function parseRepairBlock(block: unknown, path: string): Parsed<RepairSettings> {
  return parsed(repairSchema.safeParse(block), path);
}

/** Parses selector and mode of a NodeLifecyclePolicy's spec. */
export function parsePolicyFrame(spec: unknown): Parsed<PolicyFrame> {
  return parsed(policyFrameSchema.safeParse(spec ?? {}), 'spec');
}

/** The selector alone: what a policy that cannot be read as a whole was meant for. */
export function parseNodePoolSelector(spec: unknown): Parsed<LabelSelector> {
  const result = z.looseObject({ nodePoolSelector }).safeParse(spec ?? {});
  const selector = parsed(result, 'spec');
  return selector.ok ? { ok: true, value: selector.value.nodePoolSelector } : selector;
}

/** A result of zod as `Parsed`; each issue names its path under `path`. */
export function parsed<T>(result: z.core.util.SafeParseResult<T>, path: string): Parsed<T> {
  if (result.success) return { ok: true, value: result.data };
  const message = result.error.issues.map(issue => `${[path, ...issue.path.map(String)].join('.')}: ${issue.message}`);
  return { ok: false, message: message.join('; ') };
}
