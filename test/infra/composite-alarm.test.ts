/** *Curfew impaired*: its rule names alarms that there are, and rings when one of them does, and for no other. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { LIMITS, parseAlarmRule, type AlarmState } from './alarm-rule.ts';
import { synthesize } from './synthesized.ts';

const STATES: readonly AlarmState[] = ['OK', 'ALARM', 'INSUFFICIENT_DATA'];
const joined = z.object({
  'Fn::Join': z.tuple([
    z.literal(''),
    z.array(z.union([z.string(), z.strictObject({ 'Fn::GetAtt': z.tuple([z.string(), z.literal('Arn')]) })])),
  ]),
});

describe('a rule of a composite alarm', () => {
  const ringing = (rule: string, ...ring: readonly string[]): boolean =>
    parseAlarmRule(rule).rings(name => (ring.includes(name) ? 'ALARM' : 'OK'));

  // The examples of the reference, and what binds first.
  it.each<[string, readonly string[], boolean]>([
    ['ALARM(Cpu) AND ALARM(Disk)', ['Cpu'], false],
    ['ALARM(Cpu) AND ALARM(Disk)', ['Cpu', 'Disk'], true],
    ['ALARM(Cpu) AND NOT ALARM(Deploying)', ['Cpu'], true],
    ['ALARM(Cpu) AND NOT ALARM(Deploying)', ['Cpu', 'Deploying'], false],
    ['(ALARM("Cpu") OR ALARM("Disk")) AND OK("Net")', ['Disk'], true],
    ['(ALARM("Cpu") OR ALARM("Disk")) AND OK("Net")', ['Disk', 'Net'], false],
    ['ALARM(a) OR ALARM(b) AND ALARM(c)', ['a'], true],
    ['ALARM("ORANGE") OR FALSE', ['ORANGE'], true],
    ['INSUFFICIENT_DATA(a) OR NOT TRUE', ['a'], false],
  ])('%s with %s in ALARM: %s', (rule, ring, expected) => expect(ringing(rule, ...ring)).toBe(expected));

  it.each([
    '',
    'ALARM()',
    'ALARM(a) ALARM(b)',
    'ALARM(a) OR',
    '(ALARM(a)',
    'ALARM(a))',
    'RINGS(a)',
    'ALARM("a) OR ALARM(b)',
  ])('is not `%s`', rule => expect(() => parseAlarmRule(rule)).toThrow(/no rule|missing|closed|joins/));

  it('counts what it names', () =>
    expect(parseAlarmRule('(ALARM(a) OR NOT OK("b")) AND TRUE')).toMatchObject({ alarms: ['a', 'b'], elements: 5 }));
});

describe.each([
  ['with all alarms', {}],
  ['with the essential ones', { alarms: 'Essential' }],
  ['of a long name', { name: 'A'.repeat(31) }],
])('the composite alarm %s', (_, more) => {
  const cluster = {
    name: 'prod',
    endpoint: 'https://abc.example.com',
    certificateAuthority: 'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==',
  };
  const [page, ticket] = ['page', 'ticket'].map(topic => `arn:aws:sns:eu-west-1:123456789012:${topic}`);
  const { functionsTemplate } = synthesize({ cluster, alarmTopics: { page, ticket }, ...more });
  const alarms = functionsTemplate.findResources('AWS::CloudWatch::Alarm');
  const [composite] = Object.values(functionsTemplate.findResources('AWS::CloudWatch::CompositeAlarm'));
  const [, parts] = joined.parse(composite?.['Properties'].AlarmRule)['Fn::Join'];
  /** Each alarm by its logical id, or as AWS fills it in. */
  const filledIn = (nameOf: (id: string) => string): string =>
    parts.map(part => (typeof part === 'string' ? part : nameOf(part['Fn::GetAtt'][0]))).join('');
  const rule = parseAlarmRule(filledIn(id => id));
  const silent = Object.keys(alarms).filter(id => alarms[id]?.['Properties'].AlarmActions === undefined);

  it('names each alarm once that tells nobody by itself, and no other', () => {
    expect(rule.alarms.length).toBeGreaterThan(10);
    expect(rule.alarms.toSorted()).toEqual(silent.toSorted());
  });

  it('rings with any of them alone, and not while one has no data', () => {
    for (const id of rule.alarms) {
      const rings = STATES.map(state => rule.rings(each => (each === id ? state : 'OK')));
      expect([id, ...rings]).toEqual([id, false, true, false]);
    }
    expect(STATES.map(state => rule.rings(() => state))).toEqual([false, true, false]);
  });

  it('does not ring with any other', () => {
    for (const id of Object.keys(alarms).filter(each => !rule.alarms.includes(each))) {
      expect(rule.rings(each => (each === id ? 'ALARM' : 'OK'))).toBe(false);
    }
  });

  it('is within the bounds, with the longest names that CloudFormation gives', () => {
    const arn = `arn:aws-us-gov:cloudwatch:us-gov-west-1:123456789012:alarm:`;
    const stack = 'S'.repeat(128);
    expect(filledIn(id => `${arn}${`${stack}-${id}-ABCDEFGHIJKL`.slice(0, 255)}`).length).toBeLessThan(
      LIMITS.characters,
    );
    expect(rule.alarms.length).toBeLessThan(LIMITS.alarms);
    expect(rule.elements).toBeLessThan(LIMITS.elements);
  });
});
