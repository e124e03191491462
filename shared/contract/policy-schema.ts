/** Reads the frame of a NodeLifecyclePolicy's spec; its blocks have schemas of their own. Strict, with messages that name the path (I8). */
import { formatKeyPath } from './key-path.ts';
import { parsedOnce } from './parsed-once.ts';
import * as z from './zod.ts';
import { nanosecondsToDuration, parseGoDuration } from '../domain/go-duration.ts';
import type { LabelSelector } from '../domain/label-selector.ts';
import type { DurationMs } from '../domain/time.ts';

export type ParseResult<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly message: string };

/**
 * The limits of the CRD, for NodePools too, whose CRD has none: what is checked in pairs stays small. The message of one limit is
 * enough, so what lies past it is not looked at.
 */
export const LIMITS = {
  list: 64,
  actions: 8,
  hooks: 32,
  namespaces: 256,
  values: 256,
  durationLength: 64,
  /** Characters of a condition type, of a key of a ConfigMap, of a kind or namespace. */
  conditionType: 316,
  key: 253,
  label: 63,
} as const;

/** At most `count` items or characters. */
export const atMost = (count: number) => z.maxLength(count, { abort: true });

/** Reads a Go duration. @param minimum `zero`: not negative; `positive`: above zero */
export function readDuration(text: string, minimum: 'zero' | 'positive'): ParseResult<DurationMs> {
  const read = parseGoDuration(text);
  if (!read.ok) return { ok: false, message: read.error };
  const [least, must] = minimum === 'zero' ? [0n, 'must not be negative'] : [1n, 'must be positive'];
  if (read.nanoseconds < least) return { ok: false, message: `${must}, got ${JSON.stringify(text)}` };
  return { ok: true, value: nanosecondsToDuration(read.nanoseconds) };
}

const goDuration = (minimum: 'zero' | 'positive') =>
  z.pipe(
    z.string().check(atMost(LIMITS.durationLength)),
    z.transform((text: string, { issues }): DurationMs => {
      const read = readDuration(text, minimum);
      if (read.ok) return read.value;
      issues.push({ code: 'custom', message: read.message, input: text });
      return z.NEVER;
    }),
  );

/** A Go duration above zero. */
export const positiveDuration = goDuration('positive');
/** A Go duration that is not negative. */
export const zeroOrMore = goDuration('zero');

/** `metav1.LabelSelector`. */
export const labelSelectorSchema = z.strictObject({
  matchLabels: z.optional(
    z
      .record(z.string(), z.string())
      .check(z.refine(labels => Object.keys(labels).length <= LIMITS.list, `must have at most ${LIMITS.list} labels`)),
  ),
  matchExpressions: z.optional(
    z
      .array(
        z
          .strictObject({
            key: z.string().check(z.minLength(1)),
            operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']),
            values: z.optional(z.array(z.string()).check(atMost(LIMITS.values))),
          })
          .check(
            z.refine(
              // NotIn of nothing would select everything.
              ({ operator, values = [] }) => (operator === 'In' || operator === 'NotIn') === values.length > 0,
              'must have values for In and NotIn, and none for Exists and DoesNotExist',
            ),
          ),
      )
      .check(atMost(LIMITS.list)),
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

/** Strict, so that a misspelt block or mode does not pass for an absent one; what is in the blocks is read by their own schemas. */
const policyFrameSchema = z.strictObject({
  nodePoolSelector,
  mode: z._default(z.enum(MODES), 'Enforce'),
  repair: z.optional(z.unknown()),
  repairLimits: z.optional(z.unknown()),
  drain: z.optional(z.unknown()),
  protection: z.optional(z.unknown()),
  termination: z.optional(z.unknown()),
});

/** Parses selector and mode of a NodeLifecyclePolicy's spec. */
export function parsePolicyFrame(spec: unknown): ParseResult<PolicyFrame> {
  return policyFrameOf(spec, 'spec');
}

const policyFrameOf = parsedOnce((spec, path): ParseResult<PolicyFrame> =>
  parsed(policyFrameSchema.safeParse(spec ?? {}), path),
);

/** The selector alone: what a policy that cannot be read as a whole was meant for. */
export function parseNodePoolSelector(spec: unknown): ParseResult<LabelSelector> {
  const result = z.looseObject({ nodePoolSelector }).safeParse(spec ?? {});
  const selector = parsed(result, 'spec');
  return selector.ok ? { ok: true, value: selector.value.nodePoolSelector } : selector;
}

/** A result of zod as `ParseResult`; each issue names its path under `path`. */
export function parsed<T>(result: z.core.util.SafeParseResult<T>, path: string): ParseResult<T> {
  if (result.success) return { ok: true, value: result.data };
  const messages = result.error.issues.map(issue => `${path}${under(issue.path)}: ${whatIsWrong(issue)}`);
  return { ok: false, message: messages.join('; ') };
}

function under(path: readonly PropertyKey[]): string {
  const text = formatKeyPath(path);
  return text === '' || text.startsWith('[') ? text : `.${text}`;
}

function whatIsWrong(issue: z.core.$ZodIssue): string {
  const isMissing = issue.code === 'invalid_type' && issue.message.endsWith('received undefined');
  return isMissing ? `is missing, ${issue.expected} expected` : issue.message;
}
