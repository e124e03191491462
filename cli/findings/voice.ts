/**
 * One voice for what is wrong with a value: `must be RULE, such as EXAMPLE, not VALUE`, with the nearest name where there is one. The API
 * server, zod and Go's parsers each have words of their own, which stand here once.
 */
import { didYouMean, nearestName, suggestion } from '../../shared/domain/nearest-name.ts';
import type { JsonObject } from '../../shared/domain/kubernetes-object.ts';
import { fieldsAt, schemaAt } from '../../simulator/scenario/object-fields.ts';
import type { Path } from '../../simulator/scenario/places.ts';

export const UNKNOWN_FIELD = 'unknown field';

/** What a message is about. */
export interface Spoken {
  readonly path: Path;
  /** What stands at the path; undefined: nothing. */
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
/** What has numbers with units and is none is too long for 64 bits of nanoseconds. */
const HAS_UNITS = /^[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+$/;

type Words = (match: RegExpExecArray, spoken: Spoken) => string;

const PHRASES: readonly (readonly [RegExp, Words])[] = [
  [/^unknown field$/, (_, spoken) => unknownField(spoken)],
  [/^(?:Required value|is missing, (\w+) expected|is missing)$/, ([, type], spoken) => missing(type, spoken)],
  [/supported values: (.*)$/, ([, list = ''], spoken) => oneOf([...list.matchAll(/"([^"]*)"/g)].map(([, each = '']) => each), spoken)], // prettier-ignore
  [/^Invalid option: expected one of (.*)$/, ([, list = ''], spoken) => oneOf(list.split('|').map(unquoted), spoken)],
  [/^Invalid input: expected (".*")$/, ([, only = ''], spoken) => oneOf([unquoted(only)], spoken)],
  [/in body must be of type ([\w-]+): /, ([, type = ''], spoken) => mustBe(ofType(type, spoken), spoken)],
  [/^Invalid input: expected ([\w-]+), received/, ([, type = ''], spoken) => mustBe(ofType(type, spoken), spoken)],
  [/^time: (?:unknown unit ("[^"]*")|(missing unit)|invalid duration)/, (match, spoken) => duration(match, spoken)],
  [/^unknown mode .*; modes are (.*)$/, ([, list = ''], spoken) => oneOf(list.split(', '), spoken)],
  [/^must be (positive|not negative|negative), got/, ([, what = ''], spoken) => mustBe(what, spoken)],
  [/^must not be negative, got/, (_, spoken) => mustBe('0s or longer', spoken)],
  [/at least 1 chars long$|expected string to have >=1 /, () => 'must not be empty'],
  [/at least (\d+) chars long$/, ([, least = ''], spoken) => `must have at least ${least} characters${not(spoken)}`],
  [/^Too long: may not be more than (\d+)|expected string to have <=(\d+)/, ([, a, b], spoken) => `must have at most ${a ?? b} characters${not(spoken)}`], // prettier-ignore
  [/^Too many: .*at most (\d+)|expected array to have <=(\d+)/, ([, a, b]) => `must have at most ${a ?? b} entries`],
  [/should have at least (\d+) items|expected array to have >=(\d+)/, ([, a, b]) => `must have at least ${count(a ?? b, 'entry', 'entries')}`], // prettier-ignore
  [/should have at least (\d+) properties/, ([, least]) => `must have at least ${count(least, 'field', 'fields')}`],
  [/greater than or equal to (\S+)$|expected (?:number|int) to be >=(\S+)/, ([, a, b], spoken) => mustBe(`at least ${a ?? b}`, spoken)], // prettier-ignore
  [/less than or equal to (\S+)$|expected (?:number|int) to be <=(\S+)/, ([, a, b], spoken) => mustBe(`at most ${a ?? b}`, spoken)], // prettier-ignore
  [/should be greater than (\S+)$/, ([, than], spoken) => mustBe(`greater than ${than}`, spoken)],
  [/should be less than (\S+)$/, ([, than], spoken) => mustBe(`less than ${than}`, spoken)],
  [/should match '(.*)'$/s, ([, pattern], spoken) => `must match ${pattern}${not(spoken)}`],
  [/contain duplicates$|^Duplicate value/, () => 'must have each entry once'],
];

/** The message in our words; as it is where it has no other. */
export function inOneVoice(message: string, spoken: Spoken): string {
  for (const [pattern, words] of PHRASES) {
    const match = pattern.exec(message);
    if (match !== null) return words(match, spoken);
  }
  const [, plain = message] =
    /^Invalid value: (?:"(?:[^"\\]|\\.)*"|[\w.-]+|\{.*?\}|\[.*?\]): (.+)$/s.exec(message) ?? [];
  return withValue(plain, spoken);
}

/** What a rule says of a text, with the text. */
function withValue(message: string, spoken: Spoken): string {
  const { value } = spoken;
  if (typeof value === 'object' || !/^must (be|match) /.test(message)) return message;
  return /, (not|got) |\bnot "/.test(message) ? message.replace(/, got (?=\S)/, ', not ') : `${message}${not(spoken)}`;
}

function unknownField({ path, schema }: Spoken): string {
  const known = fieldsAt(path.slice(0, -1), schema);
  const meant = suggestion(String(path.at(-1)), known);
  return `${UNKNOWN_FIELD}${meant || (known.length === 0 ? '' : `; there are ${known.join(', ')}`)}`;
}

function missing(type: string | undefined, { path, schema }: Spoken): string {
  const own: unknown = type ?? schemaAt(path, schema)['type'];
  return typeof own === 'string' ? `is missing; it must be ${typed(own)}` : 'is missing';
}

function oneOf(known: readonly string[], spoken: Spoken): string {
  const { value } = spoken;
  const near = typeof value === 'string' ? didYouMean(nearestName(value, known)) : '';
  return `must be ${known.length > 1 ? 'one of ' : ''}${known.join(', ')}${not(spoken)}${near}`;
}

/** A number where a duration is wanted is one without its unit. */
function ofType(type: string, { path, schema }: Spoken): string {
  return type === 'string' && JSON.stringify(schemaAt(path, schema)).includes('Go duration') ? DURATION : typed(type);
}

const mustBe = (what: string, spoken: Spoken): string => `must be ${what}${not(spoken)}`;

function duration([, unit, isMissing]: RegExpExecArray, spoken: Spoken): string {
  const isTooLong = typeof spoken.value === 'string' && HAS_UNITS.test(spoken.value);
  const why =
    unit === undefined ? (isMissing === undefined ? '' : ': a unit is missing') : `: there is no unit ${unit}`;
  return `${mustBe(isTooLong ? LONGEST : DURATION, spoken)}${why}`;
}

const unquoted = (text: string): string => text.replace(/^"(.*)"$/, '$1');

const count = (number: string | undefined, one: string, more: string): string =>
  `${number} ${number === '1' ? one : more}`;

/** Longest part of a value that a message repeats. */
const MAX_VALUE = 60;

/** `, not "x"`: as it would stand in JSON; nothing where there is no value. */
function not({ value }: Spoken): string {
  if (value === undefined) return '';
  const text = JSON.stringify(value) ?? typeof value;
  return `, not ${text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)} …` : text}`;
}
