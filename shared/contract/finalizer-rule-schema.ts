/** Reads the `spec` of a FinalizerRule. Strict, with a message that names the path (I8). */
import { ON_DEADLINES, type Cleanup, type FinalizerRule } from '../domain/finalizer-rule.ts';
import { atMost, LIMITS, parsed, type Parsed } from './policy-schema.ts';
import { finalizerNameSchema, positiveDuration } from './termination-schema.ts';
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
    })
    .check(
      z.refine(({ group, kind }) => !OTHERS.includes(`${group}/${kind}`), {
        path: ['kind'],
        error: 'must not be Node, NodeClaim or FinalizerRule: terminations have NodeLifecyclePolicies',
      }),
    ),
);

/** Paths in messages begin with `spec`. */
export function parseFinalizerRule(spec: unknown): Parsed<FinalizerRule> {
  const result = parsed(finalizerRuleSchema().safeParse(spec), 'spec');
  return result.ok ? { ok: true, value: { ...result.value, deadline: result.value.deadline } } : result;
}
