import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { PodView } from '../../../shared/domain/pod.ts';
import {
  COMPATIBILITIES,
  isProtected,
  parseDoNotDisrupt,
  protectionOf,
  type Compatibility,
  type ProtectionPolicy,
} from '../../../shared/domain/protection.ts';
import {
  addDuration,
  hours,
  minutes,
  seconds,
  toDurationMs,
  toEpochMs,
  type EpochMs,
} from '../../../shared/domain/time.ts';
import { aPod, aPolicy, CREATED, STARTED } from '../../builders/pods.ts';
import { at } from '../../builders/repair.ts';

const fixture = new URL('../../fixtures/conformance/go-duration-vectors.json', import.meta.url);
const { vectors } = z
  .object({
    vectors: z.array(
      z.object({ id: z.string(), input: z.string(), nanoseconds: z.string().nullable(), error: z.string().nullable() }),
    ),
  })
  .parse(JSON.parse(readFileSync(fixture, 'utf8')));

const design = aPolicy();
const karpenter = aPolicy({ compatibility: 'Karpenter' });
/** Long after every duration that Go can express. */
const NEVER_REACHED = addDuration(CREATED, hours(3_000_000));

describe('conformance vectors (X19)', () => {
  const answers = (input: string): unknown => COMPATIBILITIES.map(rules => parseDoNotDisrupt(input, rules));
  const isBounded = ({ nanoseconds }: (typeof vectors)[number]): boolean => BigInt(nanoseconds ?? 0) > 0n;

  const bounded = vectors.filter(isBounded);
  it.each(bounded)('$id $input is bounded: up to its end, and not at it', ({ input, nanoseconds }) => {
    // Rounded up to milliseconds: a protection is not shortened by rounding.
    const duration = Number((BigInt(nanoseconds ?? 0) + 999_999n) / 1_000_000n);
    const asked = { kind: 'limited', duration };
    expect(answers(input)).toEqual([asked, asked]);
    const ends = [toEpochMs(CREATED + duration), toEpochMs(STARTED + duration)] as const;
    const before = (end: EpochMs): EpochMs => toEpochMs(end - 1);
    const pod = aPod(input);
    expect([isProtected(pod, before(ends[0]), design), isProtected(pod, ends[0], design)]).toEqual([true, false]);
    expect([isProtected(pod, before(ends[1]), karpenter), isProtected(pod, ends[1], karpenter)]).toEqual([true, false]);
  });

  const invalid = vectors.filter(vector => !isBounded(vector) && vector.input !== 'true');
  it.each(invalid)('$id $input protects without end, or is ignored', ({ input, error }) => {
    const problem = error ?? 'the duration must be positive';
    expect(answers(input)).toEqual([
      { kind: 'invalid', problem, effect: 'indefinite' },
      { kind: 'invalid', problem, effect: 'ignored' },
    ]);
    expect(isProtected(aPod(input), NEVER_REACHED, design)).toBe(true);
    expect(isProtected(aPod(input), CREATED, karpenter)).toBe(false);
  });

  it('D001 "true" is without end', () => {
    expect(answers('true')).toEqual([{ kind: 'indefinite' }, { kind: 'indefinite' }]);
    expect([design, karpenter].map(rules => isProtected(aPod('true'), NEVER_REACHED, rules))).toEqual([true, true]);
  });

  it('are all of them', () => {
    expect(bounded.length + invalid.length + 1).toBe(vectors.length);
    expect(vectors.length).toBeGreaterThan(100);
  });
});

/** The table of activity scenarios: created 10:00:00, started 10:20:00 unless said otherwise. */
describe('activity scenarios', () => {
  interface Scenario {
    readonly id: string;
    readonly value: string | undefined;
    readonly now: string;
    readonly design: boolean;
    readonly karpenter: boolean;
    readonly pod?: Partial<PodView>;
  }
  const scenarios: readonly Scenario[] = [
    { id: 'A1, X1 none', value: undefined, now: '10:30:00', design: false, karpenter: false },
    { id: 'A2, X2 true', value: 'true', now: '23:59:59', design: true, karpenter: true },
    { id: 'A3 before the end', value: '4h', now: '13:59:59', design: true, karpenter: true },
    { id: 'A4 at the end by creation', value: '4h', now: '14:00:00', design: false, karpenter: true },
    { id: 'A5 before the end by start', value: '4h', now: '14:19:59', design: false, karpenter: true },
    { id: 'A6 at the end by start', value: '4h', now: '14:20:00', design: false, karpenter: false },
    {
      id: 'A7, X7 not started',
      value: '4h',
      now: '20:00:00',
      design: false,
      karpenter: true,
      pod: { startTime: undefined, phase: 'Pending' },
    },
    { id: 'A8 false', value: 'false', now: '23:00:00', design: true, karpenter: false },
    { id: 'A9 zero', value: '0s', now: '23:00:00', design: true, karpenter: false },
    { id: 'A9 negative', value: '-5m', now: '23:00:00', design: true, karpenter: false },
    {
      id: 'A10 start in the future',
      value: '4h',
      now: '14:00:00',
      design: false,
      karpenter: true,
      pod: { startTime: at('2024-01-01T15:00:00Z') },
    },
    {
      id: 'A11, X8 Succeeded',
      value: 'true',
      now: '10:30:00',
      design: false,
      karpenter: false,
      pod: { phase: 'Succeeded' },
    },
    {
      id: 'A11, X11 Failed',
      value: 'true',
      now: '10:30:00',
      design: false,
      karpenter: false,
      pod: { phase: 'Failed' },
    },
    {
      id: 'A12, X11 terminating',
      value: 'true',
      now: '10:30:00',
      design: false,
      karpenter: false,
      pod: { deletionTime: at('2024-01-01T10:25:00Z') },
    },
    { id: 'A22 edited to 1h after two hours', value: '1h', now: '12:00:00', design: false, karpenter: false },
    { id: 'X5 5m, started a minute ago', value: '5m', now: '10:21:00', design: false, karpenter: true },
    { id: 'X6 5m, started ten minutes ago', value: '5m', now: '10:30:00', design: false, karpenter: false },
    { id: 'empty value', value: '', now: '10:30:00', design: true, karpenter: false },
  ];
  it.each(scenarios)('$id', ({ value, now, pod = {}, ...expected }) => {
    const instant = at(`2024-01-01T${now}Z`);
    expect({
      design: isProtected(aPod(value, pod), instant, design),
      karpenter: isProtected(aPod(value, pod), instant, karpenter),
    }).toEqual({ design: expected.design, karpenter: expected.karpenter });
  });
});

describe('the worked examples of the design', () => {
  it.each([
    ['example 1, batch job', '2h', hours(2)],
    ['example 2, training', '24h', hours(24)],
    ['example 4, quick task', '30m', minutes(30)],
  ])('%s: %s from creation', (_name, value, duration) => {
    const expiry = addDuration(CREATED, duration);
    expect(protectionOf(aPod(value), design)).toEqual({
      kind: 'until',
      source: 'Duration',
      expiry,
      cappedTo: undefined,
    });
  });

  it('example 3, critical service: without end', () => {
    expect(protectionOf(aPod('true'), design)).toEqual({ kind: 'indefinite', source: 'True', reason: 'Declared' });
  });
});

describe('caps', () => {
  const capped = aPolicy({ maxDuration: hours(2), maxDurations: new Map([['ml', hours(72)]]) });

  it.each([
    ['a longer duration', '4h', 'Duration'],
    ['"true"', 'true', 'True'],
    ['a value that is not valid', '4d', 'Invalid'],
  ])('end %s', (_name, value, source) => {
    const expiry = at('2024-01-01T12:00:00Z');
    expect(protectionOf(aPod(value), capped)).toEqual({ kind: 'until', source, expiry, cappedTo: hours(2) });
  });

  it.each(['1h', '2h'])('leave a duration alone that is within: %s', value => {
    expect(protectionOf(aPod(value), capped)).toMatchObject({ kind: 'until', cappedTo: undefined });
  });

  it('of a namespace stand in place of the one of the pool', () => {
    const pod = aPod('100h', { namespace: 'ml' });
    expect(protectionOf(pod, capped)).toMatchObject({ expiry: addDuration(CREATED, hours(72)), cappedTo: hours(72) });
  });

  it('do not protect what Karpenter ignores', () => {
    const policy = aPolicy({ compatibility: 'Karpenter', maxDuration: hours(2) });
    expect(protectionOf(aPod('4d'), policy)).toEqual({ kind: 'none', reason: 'Ignored' });
  });
});

describe('when the policy cannot be read', () => {
  const unknown = aPolicy({ compatibility: 'Unknown' });

  it('protects for the longer of both rule sets', () => {
    expect(protectionOf(aPod('4h'), unknown)).toMatchObject({ expiry: at('2024-01-01T14:20:00Z') });
    expect(protectionOf(aPod('4h', { startTime: undefined }), unknown)).toMatchObject({ reason: 'NotStarted' });
    expect(protectionOf(aPod('4d'), unknown)).toMatchObject({ kind: 'indefinite', source: 'Invalid' });
  });
});

it('protects a pod whose creation time cannot be read', () => {
  expect(isProtected(aPod('1h', { creationTime: undefined }), at('2030-01-01T00:00:00Z'), design)).toBe(true);
});

describe('properties', () => {
  const value = fc.oneof(
    fc.constantFrom('true', 'false', '', '0s', '4d', '1h', '90m', '1h30m', '1.5s', '100h'),
    fc.integer({ min: 1, max: 10_000 }).map(count => `${count}s`),
    fc.string(),
  );
  const policy: fc.Arbitrary<ProtectionPolicy> = fc
    .record({
      compatibility: fc.constantFrom<Compatibility | 'Unknown'>('Design', 'Karpenter', 'Unknown'),
      maxDuration: fc.option(fc.integer({ min: 1, max: 10_000 }).map(seconds), { nil: undefined }),
    })
    .map(aPolicy);
  const pod = fc
    .record({ value, hasStarted: fc.boolean(), startDelay: fc.nat(10_000) })
    .map(({ value: text, hasStarted, startDelay }) =>
      aPod(text, { startTime: hasStarted ? addDuration(CREATED, seconds(startDelay)) : undefined }),
    );
  const instant = fc.nat(40_000_000).map(ms => toEpochMs(CREATED + ms));

  it('protection that has ended stays ended', () => {
    fc.assert(
      fc.property(pod, policy, instant, fc.nat(40_000_000), (aPodOfAny, rules, now, later) => {
        const after = addDuration(now, toDurationMs(later));
        const endsForGood = isProtected(aPodOfAny, now, rules) || !isProtected(aPodOfAny, after, rules);
        expect(endsForGood).toBe(true);
      }),
    );
  });

  it('a cap never extends a protection', () => {
    fc.assert(
      fc.property(pod, policy, instant, (aPodOfAny, rules, now) => {
        const uncapped = isProtected(aPodOfAny, now, { ...rules, maxDuration: undefined });
        expect(uncapped || !isProtected(aPodOfAny, now, rules)).toBe(true);
      }),
    );
  });

  it('renewal by a longer duration never shortens a protection', () => {
    fc.assert(
      fc.property(fc.nat(10_000), fc.nat(10_000), policy, instant, (first, more, rules, now) => {
        const before = isProtected(aPod(`${first + 1}s`), now, rules);
        expect(!before || isProtected(aPod(`${first + 1 + more}s`), now, rules)).toBe(true);
      }),
    );
  });

  it('an unreadable policy protects whatever either rule set protects', () => {
    fc.assert(
      fc.property(pod, instant, (aPodOfAny, now) => {
        const either = COMPATIBILITIES.some(compatibility => isProtected(aPodOfAny, now, aPolicy({ compatibility })));
        expect(isProtected(aPodOfAny, now, aPolicy({ compatibility: 'Unknown' }))).toBe(either);
      }),
    );
  });
});

describe('an annotation longer than 256 bytes', () => {
  const LONGEST = `${'0'.repeat(254)}1h`;

  it.each([
    ['zeros that Go would read', `0${LONGEST}`],
    ['digits', `${'1'.repeat(250_000)}h`],
    ['terms', '1ns'.repeat(83_000)],
    ['fewer characters, of more bytes', `1${'é'.repeat(128)}`],
  ])('is invalid without being read: %s', (_, value) => {
    const problem = 'it is longer than 256 bytes';
    expect(parseDoNotDisrupt(value, 'Design')).toEqual({ kind: 'invalid', problem, effect: 'indefinite' });
    expect(parseDoNotDisrupt(value, 'Karpenter')).toEqual({ kind: 'invalid', problem, effect: 'ignored' });
  });

  it('begins at 257', () => {
    expect(parseDoNotDisrupt(LONGEST, 'Design')).toEqual({ kind: 'limited', duration: hours(1) });
  });
});
