/** The fields of a HealthEvent as they come: what a newer release adds is data, and what others' JSON writes as number or text is read as the other. */
import { PROCESSING_STRATEGIES, RECOMMENDED_ACTIONS, UNKNOWN_ACTION } from '../domain/health-event.ts';
import { parseTimestamp } from '../domain/time.ts';
import * as z from './zod.ts';

/** Longest text of one field; the whole event is at most 1 MB anyway. */
const MAX_TEXT = 65_536;
const MAX_LIST = 1000;
/** A word: a status, the name of an action. */
const MAX_WORD = 253;

const text = z._default(z.string().check(z.maxLength(MAX_TEXT)), '');
const requiredText = z.string().check(z.minLength(1), z.maxLength(MAX_WORD));
const flag = z._default(z.boolean(), false);

/** Text, or a number or truth value that stands for its text: XID codes and GPU indexes are often written as numbers. */
const scalar = z.pipe(
  z.union([z.string().check(z.maxLength(MAX_TEXT)), z.number(), z.boolean()]),
  z.transform((value: string | number | boolean) => String(value)),
);

/** A value of `metadata`: a text as it stands, and anything else as its JSON. */
const anyText = z.pipe(
  z.unknown(),
  z.transform((value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))),
);

export interface NamedNumber {
  readonly number: number;
  /** The name, if it has no number here. */
  readonly name?: string;
}

/** A number, its digits, its name, or absent (0). A name that is not known is data. @param unknown the number that it gets */
const enumeration = (names: ReadonlyMap<number, string>, unknown: number) =>
  z._default(
    z.pipe(
      z.union([z.int(), z.string().check(z.maxLength(MAX_WORD))]),
      z.transform((value: number | string): NamedNumber => {
        if (typeof value === 'number') return { number: value };
        if (/^-?\d{1,9}$/.test(value)) return { number: Number(value) };
        const number = [...names].find(([, name]) => name === value)?.[0];
        if (number !== undefined) return { number };
        return value === '' ? { number: 0 } : { number: unknown, name: value };
      }),
    ),
    { number: 0 },
  );

/** Digits count as a number: protobuf's JSON writes an int64 as text. */
const integer = z.pipe(
  z.union([z.int(), z.string().check(z.regex(/^-?\d{1,15}$/, 'must be a whole number'))]),
  z.transform((value: number | string) => Number(value)),
);
const NANOS = { least: 0, most: 999_999_999 };

const timestamp = z.madeOnce(() =>
  z.union([
    z.pipe(
      z.string(),
      z.transform((value: string, { issues }): { seconds: number; nanos: number } => {
        const instant = parseTimestamp(value);
        if (instant === undefined) {
          issues.push({ code: 'custom', message: 'must be an RFC 3339 timestamp', input: value });
          return z.NEVER;
        }
        const fraction = /\.(\d{1,9})/.exec(value)?.[1] ?? '';
        return { seconds: Math.floor(instant / 1000), nanos: Number(fraction.padEnd(9, '0')) };
      }),
    ),
    z.object({
      seconds: z._default(integer, 0),
      nanos: z._default(
        z.pipe(
          integer,
          z.transform((value: number, { issues }): number => {
            if (value >= NANOS.least && value <= NANOS.most) return value;
            issues.push({ code: 'custom', message: `must be ${NANOS.least} to ${NANOS.most}`, input: value });
            return z.NEVER;
          }),
        ),
        0,
      ),
    }),
  ]),
);

const overrides = z.madeOnce(() => z.object({ force: flag, skip: flag }));
const entity = z.madeOnce(() => z.object({ entityType: z._default(scalar, ''), entityValue: z._default(scalar, '') }));

/** A strategy that is not known is for no drain: only `EXECUTE_REMEDIATION` is. */
const UNKNOWN_STRATEGY = -1;

export const eventSchema = z.madeOnce(() =>
  z.object({
    id: z.optional(requiredText),
    nodeName: requiredText,
    version: z._default(z.union([z.int().check(z.minimum(0), z.maximum(0xffff_ffff)), z.string()]), 0),
    agent: text,
    componentClass: text,
    checkName: text,
    isFatal: z.optional(z.boolean()),
    isHealthy: flag,
    message: text,
    recommendedAction: enumeration(RECOMMENDED_ACTIONS, UNKNOWN_ACTION),
    customRecommendedAction: text,
    errorCode: z._default(z.array(scalar).check(z.maxLength(MAX_LIST)), []),
    entitiesImpacted: z._default(z.array(entity()).check(z.maxLength(MAX_LIST)), []),
    metadata: z._default(z.record(z.string(), anyText), {}),
    generatedTimestamp: z.optional(timestamp()),
    quarantineOverrides: z.optional(overrides()),
    drainOverrides: z.optional(overrides()),
    processingStrategy: enumeration(PROCESSING_STRATEGIES, UNKNOWN_STRATEGY),
  }),
);

/** A word of a newer release is data. */
export const statusSchema = z.madeOnce(() =>
  z.object({ nodeQuarantined: z.optional(z.string().check(z.maxLength(MAX_WORD))) }),
);
