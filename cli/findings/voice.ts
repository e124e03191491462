/**
 * One voice for what is wrong with a value: `must be RULE, such as EXAMPLE, not VALUE`, with the nearest name where there is one. The API
 * server, zod and Go's parsers each have words of their own, which stand here once.
 */
import { didYouMean, nearestName, suggestion } from '../../shared/domain/nearest-name.ts';
import type { JsonObject } from '../../shared/domain/kubernetes-object.ts';
import { fieldsAt, schemaAt } from '../../simulator/scenario/object-fields.ts';
import type { Path } from '../../simulator/scenario/places.ts';

export const UNKNOWN_FIELD = 'unknown field';

/** The field that a message is about. */
export interface MessageSubject {
  readonly path: Path;
  /** The value at the path; undefined: there is none. */
  readonly value: unknown;
  /** The OpenAPI schema of the whole object; empty where there is none. */
  readonly schema: JsonObject;
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  object: 'an object',
  record: 'an object',
  array: 'a list',
  number: 'a number',
  double: 'a number',
  int: 'a whole number',
  integer: 'a whole number',
  int32: 'a whole number',
  int64: 'a whole number',
  boolean: 'true or false',
};
const typed = (name: string): string => TYPES[name] ?? name;

const DURATION = 'a duration such as 24h, 10m or 1h30m';
const LONGEST = 'a duration of at most 2562047h, 292 years';
/** Texts of numbers with units. If such a text is no duration, it is too long for 64 bits of nanoseconds. */
const HAS_UNITS = /^[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+$/;

type Words = (match: RegExpExecArray, subject: MessageSubject) => string;

const PHRASES: readonly (readonly [RegExp, Words])[] = [
  [/^unknown field$/, (_, subject) => unknownField(subject)],
  [/^(?:Required value|is missing, (\w+) expected|is missing)$/, ([, type], subject) => missing(type, subject)],
  [
    /^is missing, ((?:one of )?".*") expected$/,
    ([, list = '']) => `is missing; it must be ${list.replaceAll('"', '')}`,
  ],
  [/supported values: (.*)$/, ([, list = ''], subject) => oneOf([...list.matchAll(/"([^"]*)"/g)].map(([, each = '']) => each), subject)], // prettier-ignore
  [/^Invalid option: expected one of (.*)$/, ([, list = ''], subject) => oneOf(list.split('|').map(unquoted), subject)],
  [/^Invalid input: expected (".*")$/, ([, only = ''], subject) => oneOf([unquoted(only)], subject)],
  [/in body must be of type ([\w-]+): /, ([, type = ''], subject) => mustBe(ofType(type, subject), subject)],
  [/^Invalid input: expected ([\w-]+), received/, ([, type = ''], subject) => mustBe(ofType(type, subject), subject)],
  [/^time: (?:unknown unit ("[^"]*")|(missing unit)|invalid duration)/, (match, subject) => duration(match, subject)],
  [/^unknown mode .*; modes are (.*)$/, ([, list = ''], subject) => oneOf(list.split(', '), subject)],
  [/^must be (positive|not negative|negative), got/, ([, what = ''], subject) => mustBe(what, subject)],
  [/^must not be negative, got/, (_, subject) => mustBe('0s or longer', subject)],
  [/at least 1 chars long$|expected string to have >=1 /, () => 'must not be empty'],
  [/at least (\d+) chars long$/, ([, least = ''], subject) => `must have at least ${least} characters${not(subject)}`],
  [/^Too long: may not be more than (\d+)|expected string to have <=(\d+)/, ([, a, b], subject) => `must have at most ${a ?? b} characters${not(subject)}`], // prettier-ignore
  [/^Too many: .*at most (\d+)|expected array to have <=(\d+)/, ([, a, b]) => `must have at most ${a ?? b} entries`],
  [/should have at least (\d+) items|expected array to have >=(\d+)/, ([, a, b]) => `must have at least ${count(a ?? b, 'entry', 'entries')}`], // prettier-ignore
  [/should have at least (\d+) properties/, ([, least]) => `must have at least ${count(least, 'field', 'fields')}`],
  [/greater than or equal to (\S+)$|expected (?:number|int) to be >=(\S+)/, ([, a, b], subject) => mustBe(`at least ${a ?? b}`, subject)], // prettier-ignore
  [/less than or equal to (\S+)$|expected (?:number|int) to be <=(\S+)/, ([, a, b], subject) => mustBe(`at most ${a ?? b}`, subject)], // prettier-ignore
  [/should be greater than (\S+)$/, ([, than], subject) => mustBe(`greater than ${than}`, subject)],
  [/should be less than (\S+)$/, ([, than], subject) => mustBe(`less than ${than}`, subject)],
  [/should match '(.*)'$/s, ([, pattern], subject) => `must match ${pattern}${not(subject)}`],
  [/contain duplicates$|^Duplicate value/, () => 'must have each entry once'],
];

/** The message in our words; as it is where it has no other. */
export function inOneVoice(message: string, subject: MessageSubject): string {
  for (const [pattern, words] of PHRASES) {
    const match = pattern.exec(message);
    if (match !== null) return words(match, subject);
  }
  const [, plain = message] =
    /^Invalid value: (?:"(?:[^"\\]|\\.)*"|[\w.-]+|\{.*?\}|\[.*?\]): (.+)$/s.exec(message) ?? [];
  return withValue(plain, subject);
}

/** Adds the value to a message about a text. */
function withValue(message: string, subject: MessageSubject): string {
  const { value } = subject;
  if (typeof value === 'object' || !/^must (be|match) /.test(message)) return message;
  return /, (not|got) |\bnot "/.test(message) ? message.replace(/, got (?=\S)/, ', not ') : `${message}${not(subject)}`;
}

function unknownField({ path, schema }: MessageSubject): string {
  const known = fieldsAt(path.slice(0, -1), schema);
  const meant = suggestion(String(path.at(-1)), known);
  return `${UNKNOWN_FIELD}${meant || (known.length === 0 ? '' : `; there are ${known.join(', ')}`)}`;
}

function missing(type: string | undefined, { path, schema }: MessageSubject): string {
  const own: unknown = type ?? schemaAt(path, schema)['type'];
  return typeof own === 'string' ? `is missing; it must be ${typed(own)}` : 'is missing';
}

function oneOf(known: readonly string[], subject: MessageSubject): string {
  const { value } = subject;
  const near = typeof value === 'string' ? didYouMean(nearestName(value, known)) : quoted(value, known);
  return `must be ${known.length > 1 ? 'one of ' : ''}${known.join(', ')}${not(subject)}${near}`;
}

/** A YAML `true` where the text is meant. */
function quoted(value: unknown, known: readonly string[]): string {
  const meant = known.find(each => typeof value === 'boolean' && each.toLowerCase() === String(value));
  return meant === undefined ? '' : `: write "${meant}", with the quotes`;
}

/** A number where a duration is wanted is one without its unit. */
function ofType(type: string, { path, schema }: MessageSubject): string {
  return type === 'string' && JSON.stringify(schemaAt(path, schema)).includes('Go duration') ? DURATION : typed(type);
}

const mustBe = (what: string, subject: MessageSubject): string => `must be ${what}${not(subject)}`;

function duration([, unit, isMissing]: RegExpExecArray, subject: MessageSubject): string {
  const isTooLong = typeof subject.value === 'string' && HAS_UNITS.test(subject.value);
  const why =
    unit === undefined ? (isMissing === undefined ? '' : ': a unit is missing') : `: there is no unit ${unit}`;
  return `${mustBe(isTooLong ? LONGEST : DURATION, subject)}${why}`;
}

const unquoted = (text: string): string => text.replace(/^"(.*)"$/, '$1');

const count = (number: string | undefined, one: string, more: string): string =>
  `${number} ${number === '1' ? one : more}`;

/** Longest part of a value that a message repeats. */
const MAX_VALUE = 60;

/** `, not "x"`: as it would stand in JSON; nothing where there is no value. */
function not({ value }: MessageSubject): string {
  if (value === undefined) return '';
  const text = JSON.stringify(value) ?? typeof value;
  return `, not ${text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)} …` : text}`;
}
