/** Values that scenario files have in many places: times, names, and what is one of several. */
import * as z from 'zod';
import { nanosecondsToDuration, parseGoDuration } from '../../shared/domain/go-duration.ts';
import type { JsonObject, JsonValue } from '../../shared/domain/kubernetes-object.ts';
import { parseTimestamp, type DurationMs, type EpochMs } from '../../shared/domain/time.ts';

/** An instant, or a time since the start. */
export type Moment =
  | { readonly kind: 'instant'; readonly instant: EpochMs }
  | { readonly kind: 'sinceStart'; readonly duration: DurationMs };

export const text = z.string().min(1);
export const jsonValue: z.ZodType<JsonValue> = z.json();
export const jsonObject: z.ZodType<JsonObject> = z.record(z.string(), jsonValue);

/** A bare 0 is a number of YAML. */
const textOr = (wanted: string) =>
  z.union([z.string(), z.number()], {
    error: ({ input }) => (input === undefined ? `is missing; it must be ${wanted}` : `must be ${wanted}`),
  });

export const duration = textOr('a Go duration').transform((value, context): DurationMs => {
  const parsed = parseGoDuration(String(value));
  if (parsed.ok && parsed.nanoseconds >= 0n) return nanosecondsToDuration(parsed.nanoseconds);
  context.addIssue({ code: 'custom', message: parsed.ok ? 'must not be negative' : parsed.error });
  return z.NEVER;
});

export const positiveDuration = duration.refine(value => value > 0, 'must be longer than 0s');

export const instant = z.string().transform((value, context): EpochMs => {
  const parsed = parseTimestamp(value);
  if (parsed !== undefined) return parsed;
  context.addIssue({ code: 'custom', message: `must be an RFC 3339 instant, got ${JSON.stringify(value)}` });
  return z.NEVER;
});

const LOOKS_LIKE_DATE = /^\d{4}-/;

export const moment = textOr('a Go duration or an RFC 3339 instant').transform((value, context): Moment => {
  const written = String(value);
  if (LOOKS_LIKE_DATE.test(written)) {
    const parsed = parseTimestamp(written);
    if (parsed !== undefined) return { kind: 'instant', instant: parsed };
    context.addIssue({ code: 'custom', message: `must be an RFC 3339 instant, got ${JSON.stringify(written)}` });
    return z.NEVER;
  }
  const parsed = parseGoDuration(written);
  if (parsed.ok && parsed.nanoseconds >= 0n) {
    return { kind: 'sinceStart', duration: nanosecondsToDuration(parsed.nanoseconds) };
  }
  const problem = parsed.ok ? 'must not be negative' : parsed.error;
  context.addIssue({ code: 'custom', message: `must be a Go duration or an RFC 3339 instant: ${problem}` });
  return z.NEVER;
});

export const texts = z.record(z.string(), z.string());
export const timestamp = z.string().refine(value => parseTimestamp(value) !== undefined, 'must be an RFC 3339 instant');

export const optionals = <Shape extends Record<string, z.ZodType>>(
  shape: Shape,
): { [Key in keyof Shape]: z.ZodOptional<Shape[Key]> } =>
  Object.fromEntries(Object.entries(shape).map(([key, schema]) => [key, schema.optional()])) as {
    [Key in keyof Shape]: z.ZodOptional<Shape[Key]>;
  };

/** Refuses an object that has none or several of the keys. */
export function exactlyOneOf(keys: readonly string[]) {
  return (value: object, context: z.RefinementCtx): void => {
    const present = keys.filter(key => key in value);
    if (present.length === 1) return;
    const found = present.length === 0 ? 'none' : present.join(' and ');
    context.addIssue({ code: 'custom', message: `must have exactly one of ${keys.join(', ')}; has ${found}` });
  };
}
