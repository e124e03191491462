import { describe, expect, it } from 'vitest';
import { compileEventPattern } from '../src/event-pattern.ts';

/** The examples of the EventBridge user guide, and what its text says around them. */
const EVENT = {
  version: '0',
  id: '3e3c153a-8339-4e30-8c35-687ebef853fe',
  'detail-type': 'EC2 Instance Launch Successful',
  source: 'aws.autoscaling',
  account: '123456789012',
  time: '2015-11-11T21:31:47Z',
  region: 'us-east-1',
  resources: [
    'arn:aws:autoscaling:us-east-1:123456789012:group/g',
    'arn:aws:ec2:us-east-1:123456789012:instance/i-b188560f',
  ],
  detail: {
    eventVersion: '',
    responseElements: null,
    'c-count': 5,
    'd-count': 3,
    'x-limit': 3.018e2,
    'source-ip': '10.0.0.123',
    'source-ip6': '2001:db8::1:2',
    location: 'eu-west-1',
    state: 'running',
    FileName: 'dir/image.PNG',
    active: true,
    nested: { leaf: 'x' },
    items: [
      { kind: 'Node', name: 'a' },
      { kind: 'Pod', name: 'b' },
    ],
    empty: [],
  },
};

const matches = (pattern: unknown, event: unknown = EVENT) => compileEventPattern(pattern)(event);
const detail = (pattern: unknown) => matches({ detail: pattern });

/** `$or` of `count` fields. */
const or = (count: number) => ({ $or: Array.from({ length: count }, (_, index) => ({ [`f${index}`]: [1] })) });

describe('event pattern', () => {
  it.each<[string, unknown, boolean]>([
    ['one exact value', { source: ['aws.autoscaling'] }, true],
    ['one of several values', { region: ['eu-west-1', 'us-east-1'] }, true],
    ['another case', { source: ['AWS.autoscaling'] }, false],
    ['sibling fields that all hold', { source: ['aws.autoscaling'], region: ['us-east-1'] }, true],
    ['sibling fields of which one does not hold', { source: ['aws.autoscaling'], region: ['eu-west-1'] }, false],
    ['any element of an array', { resources: ['arn:aws:ec2:us-east-1:123456789012:instance/i-b188560f'] }, true],
    ['a prefix of any element', { resources: [{ prefix: 'arn:aws:ec2:' }] }, true],
    ['a field that is not there', { account: ['123456789012'], missing: ['x'] }, false],
  ])('compares %s', (_, pattern, expected) => {
    expect(matches(pattern)).toBe(expected);
  });

  it.each<[string, unknown, boolean]>([
    ['empty string', { eventVersion: [''] }, true],
    ['empty string, which null is not', { responseElements: [''] }, false],
    ['null', { responseElements: [null] }, true],
    ['null, which an absent field is not', { missing: [null] }, false],
    ['boolean', { active: [true] }, true],
    ['boolean, which a string is not', { active: ['true'] }, false],
    ['number', { 'c-count': [5] }, true],
    ['number, which a string is not', { 'c-count': ['5'] }, false],
    ['prefix', { location: [{ prefix: 'eu-' }] }, true],
    ['prefix of a number', { 'c-count': [{ prefix: '5' }] }, false],
    ['prefix ignoring case', { state: [{ prefix: { 'equals-ignore-case': 'RUN' } }] }, true],
    ['suffix', { FileName: [{ suffix: '.PNG' }] }, true],
    ['suffix of another case', { FileName: [{ suffix: '.png' }] }, false],
    ['suffix ignoring case', { FileName: [{ suffix: { 'equals-ignore-case': '.png' } }] }, true],
    ['equals-ignore-case', { state: [{ 'equals-ignore-case': 'RUNNING' }] }, true],
    ['anything-but', { state: [{ 'anything-but': 'initializing' }] }, true],
    ['anything-but itself', { state: [{ 'anything-but': 'running' }] }, false],
    ['anything-but list', { state: [{ 'anything-but': ['stopped', 'running'] }] }, false],
    ['anything-but number', { 'x-limit': [{ 'anything-but': 123 }] }, true],
    ['anything-but numbers', { 'c-count': [{ 'anything-but': [4, 5] }] }, false],
    ['anything-but on an absent field', { missing: [{ 'anything-but': 'x' }] }, false],
    ['anything-but prefix', { state: [{ 'anything-but': { prefix: 'init' } }] }, true],
    ['anything-but several prefixes', { state: [{ 'anything-but': { prefix: ['init', 'run'] } }] }, false],
    ['anything-but suffix', { FileName: [{ 'anything-but': { suffix: '.txt' } }] }, true],
    ['anything-but several suffixes', { FileName: [{ 'anything-but': { suffix: ['.txt', '.PNG'] } }] }, false],
    ['anything-but equals-ignore-case', { state: [{ 'anything-but': { 'equals-ignore-case': 'RUNNING' } }] }, false],
    ['anything-but wildcard', { FileName: [{ 'anything-but': { wildcard: '*/lib/*' } }] }, true],
    ['anything-but wildcard list', { FileName: [{ 'anything-but': { wildcard: ['*/lib/*', 'dir/*'] } }] }, false],
    ['numeric range', { 'c-count': [{ numeric: ['>', 0, '<=', 5] }] }, true],
    ['numeric below', { 'd-count': [{ numeric: ['<', 10] }] }, true],
    ['numeric equal however it is spelt', { 'x-limit': [{ numeric: ['=', 301.8] }] }, true],
    ['numeric of a string', { location: [{ numeric: ['>', 0] }] }, false],
    ['cidr', { 'source-ip': [{ cidr: '10.0.0.0/24' }] }, true],
    ['cidr of another block', { 'source-ip': [{ cidr: '10.0.1.0/24' }] }, false],
    ['cidr of IPv6', { 'source-ip6': [{ cidr: '2001:db8::/32' }] }, true],
    ['cidr of what is no address', { location: [{ cidr: '0.0.0.0/0' }] }, false],
    ['wildcard', { FileName: [{ wildcard: 'dir/*.PNG' }] }, true],
    ['wildcard in the middle and at the end', { location: [{ wildcard: 'e*-w*' }] }, true],
    ['wildcard that needs an order', { location: [{ wildcard: '*west*eu*' }] }, false],
    ['wildcard whose ends would overlap', { state: [{ wildcard: 'running*running' }] }, false],
    ['exists', { state: [{ exists: true }] }, true],
    ['exists of null', { responseElements: [{ exists: true }] }, true],
    ['exists of nothing', { missing: [{ exists: true }] }, false],
    ['not exists', { missing: [{ exists: false }] }, true],
    ['not exists of a leaf', { state: [{ exists: false }] }, false],
    // "Exists matching only works on leaf nodes."
    ['exists of an object', { nested: [{ exists: true }] }, false],
    ['not exists of an object', { nested: [{ exists: false }] }, true],
    ['not exists below what is absent', { missing: { leaf: [{ exists: false }] } }, true],
    ['not exists of an empty array', { empty: [{ exists: false }] }, true],
    ['exists beside a value', { missing: [{ exists: false }, 'x'] }, true],
  ])('compares by %s', (_, pattern, expected) => {
    expect(detail(pattern)).toBe(expected);
  });

  it('matches a literal star or backslash when the wildcard escapes it', () => {
    const pattern = { path: [{ wildcard: String.raw`C:\\*\*` }] };
    expect(matches(pattern, { path: String.raw`C:\dir\*` })).toBe(true);
    expect(matches(pattern, { path: String.raw`C:\dir\x` })).toBe(false);
  });

  it('asks all constraints below an array of objects of the same element', () => {
    expect(detail({ items: { kind: ['Node'], name: ['a'] } })).toBe(true);
    expect(detail({ items: { kind: ['Node'], name: ['b'] } })).toBe(false);
  });

  it('asks $or of the same element as its siblings', () => {
    expect(detail({ items: { kind: ['Pod'], $or: [{ name: ['b'] }, { name: ['c'] }] } })).toBe(true);
    expect(detail({ items: { kind: ['Pod'], $or: [{ name: ['a'] }, { name: ['c'] }] } })).toBe(false);
  });

  it('relates fields by $or, at any depth', () => {
    const pattern = {
      source: ['aws.autoscaling'],
      detail: {
        $or: [
          { 'c-count': [{ numeric: ['>', 100] }] },
          { 'd-count': [{ numeric: ['<', 1] }] },
          { nested: { $or: [{ leaf: ['y'] }, { leaf: ['x'] }] } },
        ],
      },
    };
    expect(matches(pattern)).toBe(true);
    expect(matches({ ...pattern, source: ['other'] })).toBe(false);
  });

  it('reads $or over an operator word, or over a single object, as a field of that name', () => {
    const event = { $or: 'prefixed' };
    expect(matches({ $or: [{ prefix: 'pre' }, { prefix: 'x' }] }, event)).toBe(true);
    expect(matches({ $or: [{ prefix: 'pre' }] }, event)).toBe(true);
  });

  it('sees own fields only', () => {
    expect(detail({ constructor: [{ exists: true }] })).toBe(false);
    expect(detail({ state: { length: [7] } })).toBe(false);
  });

  it.each<[string, unknown, string]>([
    ['is not an object', [], 'it must be an object'],
    ['is empty', {}, 'it must not be empty'],
    ['has a value outside an array', { source: 'x' }, 'source must be an object or an array'],
    ['has an empty array', { detail: { a: [] } }, 'detail.a must not be an empty array'],
    ['has an empty object', { detail: {} }, 'detail must not be empty'],
    ['has an unknown operator', { source: [{ contains: 'x' }] }, 'source[0] has the unknown operator contains'],
    ['has two operators in one', { source: [{ prefix: 'a', suffix: 'b' }] }, 'exactly one operator'],
    ['has a nested array', { source: [['x']] }, 'exactly one operator'],
    ['has a prefix of a number', { source: [{ prefix: 1 }] }, 'must compare with a string'],
    ['has two stars in a row', { source: [{ wildcard: 'a**b' }] }, 'must not have **'],
    ['escapes what needs none', { source: [{ wildcard: String.raw`a\n` }] }, 'must escape only * and \\'],
    ['ends in an escape', { source: [{ wildcard: 'a\\' }] }, 'must escape only * and \\'],
    ['mixes types in anything-but', { a: [{ 'anything-but': ['x', 1] }] }, 'strings only or numbers only'],
    [
      'nests another operator in anything-but',
      { a: [{ 'anything-but': { numeric: ['=', 1] } }] },
      'must not contain numeric',
    ],
    ['has half a comparison', { a: [{ numeric: ['>'] }] }, 'must list one comparison'],
    ['has an unknown comparison', { a: [{ numeric: ['!=', 1] }] }, 'must compare with ='],
    ['has an impossible range', { a: [{ numeric: ['>', 5, '<', 1] }] }, 'below its upper bound'],
    ['has a number too large', { a: [{ numeric: ['<', 1e10] }] }, 'between -5000000000'],
    ['has a block that is none', { a: [{ cidr: '10.0.0.0/33' }] }, 'must be an IPv4 or IPv6 block'],
    ['asks exists with a string', { a: [{ exists: 'true' }] }, 'exists must be true or false'],
  ])('is refused when it %s', (_, pattern, message) => {
    expect(() => compileEventPattern(pattern)).toThrow(message);
  });

  it('is refused when $or multiplies to more than a thousand combinations', () => {
    expect(() => compileEventPattern({ a: or(10), b: or(10), c: or(10) })).not.toThrow();
    expect(() => compileEventPattern({ a: or(10), b: or(10), c: or(11) })).toThrow('1000 combinations');
  });
});
