/** Reads the `spec` of a FinalizerRule. Strict, with a message that names the path (I8). */
import { DEFAULT_RATE_LIMIT, ON_DEADLINES, type Cleanup, type FinalizerRule } from '../domain/finalizer-rule.ts';
import { hours, seconds } from '../domain/time.ts';
import { atMost, LIMITS, parsed, positiveDuration, type ParseResult } from './policy-schema.ts';
import { finalizerNameSchema } from './termination-schema.ts';
import * as z from './zod.ts';

const cleanupSchema = z.madeOnce(() =>
  z.pipe(
    z
      .strictObject({
        lambda: z.optional(z.strictObject({ functionName: z.string().check(z.minLength(1), z.maxLength(140)) })),
        event: z.optional(z.strictObject({ detailType: z.string().check(z.minLength(1), z.maxLength(128)) })),
        builtin: z.optional(z.strictObject({ name: z.enum(['None']) })),
      })
      .check(
        z.refine(
          cleanup => Object.values(cleanup).filter(target => target !== undefined).length === 1,
          'must have exactly one of lambda, event and builtin',
        ),
      ),
    z.transform(
      ({
        lambda,
        event,
      }: {
        lambda?: { functionName: string } | undefined;
        event?: { detailType: string } | undefined;
      }): Cleanup => {
        if (lambda !== undefined) return { kind: 'lambda', ...lambda };
        return event === undefined ? { kind: 'none' } : { kind: 'event', ...event };
      },
    ),
  ),
);

/** Bounds of `rateLimit`; the definition has the same. */
const RATE_LIMIT = { perSecond: { least: 0.01, most: 100 }, concurrent: { least: 1, most: 100 } } as const;
const LEAST_BACKOFF = seconds(5);
const MAX_BACKOFF = hours(24);

const rateLimitSchema = z.madeOnce(() =>
  z.strictObject({
    perSecond: z._default(
      z.number().check(z.minimum(RATE_LIMIT.perSecond.least), z.maximum(RATE_LIMIT.perSecond.most)),
      DEFAULT_RATE_LIMIT.perSecond,
    ),
    concurrent: z._default(
      z.int().check(z.minimum(RATE_LIMIT.concurrent.least), z.maximum(RATE_LIMIT.concurrent.most)),
      DEFAULT_RATE_LIMIT.concurrent,
    ),
    longestBackoff: z._default(
      positiveDuration.check(
        z.refine(value => value >= LEAST_BACKOFF && value <= MAX_BACKOFF, 'must be from 5s to 24h'),
      ),
      DEFAULT_RATE_LIMIT.longestBackoff,
    ),
  }),
);

/** Terminated under policies, and the rules themselves. */
const OTHERS: readonly string[] = ['/Node', 'karpenter.sh/NodeClaim', 'curfew.dev/FinalizerRule'];

/** Wire form of the `spec`. */
export const finalizerRuleSchema = z.madeOnce(() =>
  z
    .strictObject({
      group: z._default(z.string().check(atMost(LIMITS.key)), ''),
      version: z.string().check(z.minLength(1), atMost(LIMITS.label)),
      kind: z.string().check(z.minLength(1), atMost(LIMITS.label)),
      finalizerName: finalizerNameSchema,
      cleanup: cleanupSchema(),
      deadline: z.optional(positiveDuration),
      onDeadline: z._default(z.enum(ON_DEADLINES), 'Keep'),
      rateLimit: z._default(rateLimitSchema(), DEFAULT_RATE_LIMIT),
    })
    .check(
      z.refine(({ group, kind }) => !OTHERS.includes(`${group}/${kind}`), {
        path: ['kind'],
        error: 'must not be Node, NodeClaim or FinalizerRule: terminations have NodeLifecyclePolicies',
      }),
    ),
);

const statedFinalizerSchema = z.madeOnce(() =>
  z.looseObject({
    group: z._default(z.string(), ''),
    version: z.string().check(z.minLength(1)),
    kind: z.string().check(z.minLength(1)),
    finalizerName: z.string(),
  }),
);

/** The finalizer of a rule and the kind that carries it, if nothing else of the rule can be read. */
export interface StatedFinalizer {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly finalizerName: string;
}

/** Reads which objects may carry the finalizer of a refused rule; undefined if not even that can be read. */
export function statedFinalizerOf(spec: unknown): StatedFinalizer | undefined {
  const result = statedFinalizerSchema().safeParse(spec);
  if (!result.success) return undefined;
  const { group, version, kind, finalizerName } = result.data;
  return { group, version, kind, finalizerName };
}

/**
 * The rule as far as a clean-up needs it, where the rest cannot be read: objects with its finalizer are still cleaned up. It has no deadline,
 * which would release them. It keeps its call rate, if that can be read. undefined: the clean-up or the name cannot be read, or the name is
 * not a user's to choose.
 */
export function parseCleanUp(spec: unknown): FinalizerRule | undefined {
  const stated = statedFinalizerOf(spec);
  if (stated === undefined || OTHERS.includes(`${stated.group}/${stated.kind}`)) return undefined;
  const parts = z.looseObject({ finalizerName: finalizerNameSchema, cleanup: cleanupSchema() }).safeParse(spec);
  if (!parts.success) return undefined;
  const { cleanup } = parts.data;
  const limit = rateLimitSchema().safeParse(parts.data['rateLimit']);
  const rateLimit = limit.success ? limit.data : DEFAULT_RATE_LIMIT;
  return { ...stated, cleanup, deadline: undefined, onDeadline: 'Keep', rateLimit };
}

/** Paths in messages begin with `spec`. */
export function parseFinalizerRule(spec: unknown): ParseResult<FinalizerRule> {
  const result = parsed(finalizerRuleSchema().safeParse(spec), 'spec');
  return result.ok ? { ok: true, value: { ...result.value, deadline: result.value.deadline } } : result;
}
