/** The values of the drain configuration, each with what is said about one that is not valid. */
import { quoteCut } from '../domain/cut-text.ts';
import { DRAIN_MODES, type DrainMode } from '../domain/drain-settings.ts';
import { parseFilePattern } from '../domain/file-match.ts';
import { nanosecondsToDuration, parseGoDuration } from '../domain/go-duration.ts';
import { parseLabelSelector } from '../domain/label-selector-text.ts';
import { suggestion } from '../domain/nearest-name.ts';
import { seconds, type DurationMs } from '../domain/time.ts';
import { compileRegularExpression } from './regular-expression.ts';
import * as z from './zod.ts';

/** Longest text of one value. */
const MAX_TEXT = 1024;

/**
 * A text of bounded length. A longer one is not checked any further: patterns and selectors of a whole ConfigMap would
 * take minutes.
 */
export const text = z.string().check(z.maxLength(MAX_TEXT, { abort: true }));
export const requiredText = text.check(z.minLength(1));

/** Text that `problemOf` has nothing against. */
const checkedText = (problemOf: (text: string) => string | undefined) =>
  text.check(
    z.superRefine((value, context) => {
      const message = problemOf(value);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    }),
  );

/** The text of a mode before it is looked up: the message about an unknown mode names the nearest one. */
export const modeText = z.string();
export const mode = z.pipe(
  modeText,
  z.transform((value: string, { issues }): DrainMode => {
    const known = DRAIN_MODES.find(each => each === value);
    if (known !== undefined) return known;
    const message = `unknown mode ${quoteCut(value)}${suggestion(value, DRAIN_MODES)}; modes are ${DRAIN_MODES.join(', ')}`;
    issues.push({ code: 'custom', message, input: value });
    return z.NEVER;
  }),
);

/** NVSentinel takes whole seconds in a string; the design writes `"3600s"`; a plain number of seconds is as clear. */
export const duration = z.pipe(
  z.union([z.string(), z.number()], 'must be a duration: "3600s", "1h" or "3600"'),
  z.transform((value: string | number, { issues }): DurationMs => {
    const problem = (message: string): DurationMs => {
      issues.push({ code: 'custom', message, input: value });
      return z.NEVER;
    };
    const asText = String(value);
    if (/^[+-]?\d{1,10}$/.test(asText)) {
      return Number(asText) > 0 ? seconds(Number(asText)) : problem(`must be positive, got ${quoteCut(asText)}`);
    }
    const parsed = parseGoDuration(asText);
    if (!parsed.ok) return problem(`must be a duration such as "3600s", "1h" or "3600", got ${quoteCut(asText)}`);
    if (parsed.nanoseconds <= 0n) return problem(`must be positive, got ${quoteCut(asText)}`);
    return nanosecondsToDuration(parsed.nanoseconds);
  }),
);

/** A name that an event is compared with, letter by letter. */
export const exactName = requiredText.check(
  z.superRefine((value, context) => {
    if (value !== value.trim())
      context.addIssue({ code: 'custom', message: `${quoteCut(value)} has blanks around it` });
  }),
);

/** Ten years; what is longer was not meant, and overflows dates. */
const MAX_MINUTES = 5_256_000;
export const minuteCount = z.int().check(z.minimum(0), z.maximum(MAX_MINUTES));

export const regularExpression = checkedText(value => {
  const compiled = compileRegularExpression(value);
  return compiled.ok ? undefined : `${quoteCut(value)} is not an RE2 regular expression: ${compiled.message}`;
});

export const filePattern = checkedText(value =>
  value === ''
    ? 'must not be empty'
    : parseFilePattern(value) === undefined
      ? `syntax error in pattern ${quoteCut(value)}`
      : undefined,
);

export const labelSelector = checkedText(value => {
  const parsed = parseLabelSelector(value);
  return parsed.ok ? undefined : parsed.message;
});

export const podSelector = checkedText(value => {
  if (value.trim() === '') return 'must not be empty; use userNamespaces for a fallback';
  const parsed = parseLabelSelector(value);
  return parsed.ok ? undefined : parsed.message;
});

/** Empty, or text that matches. @param what the pattern stands for, e.g. `a namespace` */
export const matching = (pattern: RegExp, what: string) =>
  checkedText(value => (value === '' || pattern.test(value) ? undefined : `${quoteCut(value)} is not ${what}`));

export const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
