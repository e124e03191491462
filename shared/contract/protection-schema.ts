/**
 * Reads the `protection` block of a NodeLifecyclePolicy's spec. Strict: a misspelt field or a duration that does not parse makes
 * the whole block invalid, with a message that names the path (I8).
 */
import { parsedOnce } from './parsed-once.ts';
import * as z from './zod.ts';
import { COMPATIBILITIES, type ProtectionPolicy } from '../domain/protection.ts';
import { atMost, LIMITS, parsed, positiveDuration, type ParseResult } from './policy-schema.ts';

const blockSchema = z.madeOnce(() =>
  z
    .strictObject({
      /** The rules by which the annotation is read: those of the design, or those of Karpenter ≥ 1.12. */
      compatibility: z._default(z.enum(COMPATIBILITIES), 'Design'),
      /** No protection lasts longer than this from the pod's start. */
      // A cap of zero would take all protection away, which is not what a cap is for.
      maxDuration: z.optional(positiveDuration),
      /** A namespace's own cap stands in place of `maxDuration`, be it shorter or longer. */
      namespaces: z._default(
        z
          .array(
            z.strictObject({
              name: z.string().check(z.minLength(1), atMost(LIMITS.label)),
              maxDuration: positiveDuration,
            }),
          )
          .check(atMost(LIMITS.namespaces)),
        [],
      ),
      /** A warning Event on the pod this long before its protection ends. */
      warnBefore: z.optional(positiveDuration),
    })
    .check(
      z.superRefine(({ namespaces, maxDuration, warnBefore }, context) => {
        if (maxDuration !== undefined && warnBefore !== undefined && warnBefore > maxDuration) {
          context.addIssue({ code: 'custom', path: ['warnBefore'], message: 'must not be longer than maxDuration' });
        }
        namespaces.forEach(({ name }, index) => {
          if (namespaces.findIndex(namespace => namespace.name === name) === index) return;
          context.addIssue({
            code: 'custom',
            path: ['namespaces', index, 'name'],
            message: `must not repeat ${JSON.stringify(name)}`,
          });
        });
      }),
    ),
);

/** Wire form of a `protection` block, and what it stands for. */
export const protectionSchema = z.madeOnce(() =>
  z.pipe(
    blockSchema(),
    z.transform(
      ({
        compatibility,
        maxDuration,
        namespaces,
        warnBefore,
      }: z.output<ReturnType<typeof blockSchema>>): ProtectionPolicy => ({
        compatibility,
        maxDuration,
        maxDurations: new Map(namespaces.map(namespace => [namespace.name, namespace.maxDuration])),
        warnBefore,
      }),
    ),
  ),
);

/** Parses a `protection` block; `{}` is the design's rules without caps. */
export const parseProtectionBlock = parsedOnce((block, path): ParseResult<ProtectionPolicy> =>
  parsed(protectionSchema().safeParse(block), path),
);
