/**
 * Reads the `protection` block of a NodeLifecyclePolicy's spec. Strict: a misspelt field or a duration that does not parse makes
 * the whole block invalid, with a message that names the path (I8).
 */
import * as z from 'zod';
import { nanosecondsToDuration, parseGoDuration } from '../domain/go-duration.ts';
import { COMPATIBILITIES, type ProtectionPolicy } from '../domain/protection.ts';
import type { DurationMs } from '../domain/time.ts';
import { parsed, type Parsed } from './policy-schema.ts';

/** A Go duration above zero: a cap of zero would take all protection away, which is not what a cap is for. */
const positiveDuration = z.string().transform((text, context): DurationMs => {
  const duration = parseGoDuration(text);
  if (duration.ok && duration.nanoseconds > 0n) return nanosecondsToDuration(duration.nanoseconds);
  context.addIssue({
    code: 'custom',
    message: duration.ok ? `must be positive, got ${JSON.stringify(text)}` : duration.error,
  });
  return z.NEVER;
});

const protectionSchema = z
  .strictObject({
    /** Which rules read the annotation: those of the design, or those of Karpenter ≥ 1.12. */
    compatibility: z.enum(COMPATIBILITIES).default('Design'),
    /** No protection lasts longer than this from the pod's start. */
    maxDuration: positiveDuration.optional(),
    /** A namespace's own cap stands in place of `maxDuration`, be it shorter or longer. */
    namespaces: z.array(z.strictObject({ name: z.string().min(1), maxDuration: positiveDuration })).default([]),
    /** A warning Event on the pod this long before its protection ends. */
    warnBefore: positiveDuration.optional(),
  })
  .superRefine(({ namespaces }, context) => {
    namespaces.forEach(({ name }, index) => {
      if (namespaces.findIndex(namespace => namespace.name === name) === index) return;
      context.addIssue({
        code: 'custom',
        path: ['namespaces', index, 'name'],
        message: `must not repeat ${JSON.stringify(name)}`,
      });
    });
  })
  .transform(({ compatibility, maxDuration, namespaces, warnBefore }): ProtectionPolicy => ({
    compatibility,
    maxDuration,
    maxDurations: new Map(namespaces.map(namespace => [namespace.name, namespace.maxDuration])),
    warnBefore,
  }));

/** Parses a `protection` block; `{}` is the design's rules without caps. */
export function parseProtectionBlock(block: unknown, path: string): Parsed<ProtectionPolicy> {
  return parsed(protectionSchema.safeParse(block), path);
}
