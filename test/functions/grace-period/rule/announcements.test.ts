import { describe, expect, it } from 'vitest';
import type { ProtectionPolicy } from '../../../../shared/domain/protection.ts';
import { annotatedPods, announcementsFor, quotedValue } from '../../../../functions/grace-period/rule/announcements.ts';
import { hours, minutes } from '../../../../shared/domain/time.ts';
import { aPod, aPolicy } from '../../../builders/pods.ts';
import { at } from '../../../builders/repair.ts';

/** Topics and messages of what is said about a pod with this value at this time of the day. */
function said(value: string, time: string, overrides: Partial<ProtectionPolicy> = {}): Record<string, string> {
  const policy = aPolicy(overrides);
  const now = at(`2024-01-01T${time}Z`);
  const all = annotatedPods([aPod(value)], policy).flatMap(pod =>
    announcementsFor(pod, { policy, policyName: 'NodeLifecyclePolicy caps', observed: undefined, now }),
  );
  return Object.fromEntries(all.map(({ topic, message }) => [topic, message]));
}

describe('Design', () => {
  it('says nothing about a protection that runs', () => {
    expect(said('4h', '11:00:00')).toEqual({});
    expect(said('true', '11:00:00')).toEqual({});
  });

  it('says when one has ended', () => {
    expect(said('4h', '14:00:00')).toEqual({
      elapsed: 'the pod is not protected: karpenter.sh/do-not-disrupt: "4h" protects it until 2024-01-01T14:00:00Z',
    });
  });

  it('warns of a value that is not valid, with what is wrong and what it does', () => {
    const explanation = 'is neither "true" nor a positive Go duration such as "4h" or "1h30m"';
    const effect = 'to be safe the pod is protected without end: correct the value or remove the annotation';
    expect(said('4d', '11:00:00')).toEqual({
      invalid: `karpenter.sh/do-not-disrupt: "4d" ${explanation} (time: unknown unit "d" in duration "4d"); ${effect}`,
    });
    expect(said('-5m', '11:00:00')).toEqual({
      invalid: `karpenter.sh/do-not-disrupt: "-5m" ${explanation} (the duration must be positive); ${effect}`,
    });
  });
});

describe('a block that is only observed', () => {
  const topics = (time: string, observed: Partial<ProtectionPolicy>): readonly string[] => {
    const policy = aPolicy({ maxDuration: hours(1) });
    const inForce = {
      policy,
      policyName: undefined,
      observed: { policy: aPolicy(observed), source: undefined },
      now: at(`2024-01-01T${time}Z`),
    };
    return annotatedPods([aPod('4h')], policy).flatMap(pod => announcementsFor(pod, inForce).map(({ topic }) => topic));
  };

  it('is said where it would protect longer, until that is over, too', () => {
    expect(topics('10:30:00', {})).toContain('observed');
    expect(topics('13:59:59', {})).toContain('observed');
    expect(topics('14:00:00', {})).not.toContain('observed');
  });
});

describe('Karpenter (X3–X6)', () => {
  const compatibility = 'Karpenter';

  it('X3: invalid-format is ignored, with the parse text', () => {
    const { invalid = '' } = said('invalid-format', '11:00:00', { compatibility });
    expect(invalid).toContain('time: invalid duration "invalid-format"');
    expect(invalid).toContain('the annotation is ignored, the pod is not protected');
  });

  it.each(['0s', '-5m'])('X4: %s must be positive', value => {
    expect(said(value, '11:00:00', { compatibility })['invalid']).toContain('must be positive');
  });

  it('X5: says until when', () => {
    expect(said('5m', '10:21:00', { compatibility })).toEqual({
      until: 'karpenter.sh/do-not-disrupt: "5m" protects the pod until 2024-01-01T10:25:00Z',
    });
  });

  it('X6: says that it elapsed, and not until when', () => {
    expect(Object.keys(said('5m', '10:30:00', { compatibility }))).toEqual(['elapsed']);
  });
});

describe('caps and warnings', () => {
  const maxDuration = hours(2);

  it('say who limited what', () => {
    expect(said('8h', '10:00:00', { maxDuration })).toEqual({
      capped:
        'karpenter.sh/do-not-disrupt: "8h" asks for more than is granted: protected until 2024-01-01T12:00:00Z (limited to 2h0m0s by NodeLifecyclePolicy caps)',
    });
  });

  it('say of a limit without a name that it is of a policy', () => {
    const policy = aPolicy({ maxDuration });
    const now = at('2024-01-01T10:00:00Z');
    const rules = { policy, policyName: undefined, observed: undefined, now };
    const [pod] = annotatedPods([aPod('8h')], policy);
    expect(pod && announcementsFor(pod, rules).map(({ message }) => message)).toEqual([
      expect.stringMatching(/protected until 2024-01-01T12:00:00Z \(limited to 2h0m0s by policy\)$/),
    ]);
  });

  it('say that Karpenter still honours a "true" that Curfew does not', () => {
    expect(said('true', '12:00:00', { maxDuration })['elapsed']).toContain('Karpenter itself still honours');
  });

  it('come as early as asked, also for a protection shorter than that', () => {
    const warnBefore = minutes(30);
    expect(said('4h', '13:29:59', { warnBefore })).toEqual({});
    expect(said('4h', '13:30:00', { warnBefore })).toEqual({
      expiring: 'the protection by karpenter.sh/do-not-disrupt: "4h" ends at 2024-01-01T14:00:00Z',
    });
    expect(Object.keys(said('10m', '10:00:00', { warnBefore }))).toEqual(['expiring']);
    expect(Object.keys(said('4h', '14:00:00', { warnBefore }))).toEqual(['elapsed']);
  });
});

it('shows long values cut, and all of them quoted', () => {
  expect([quotedValue('4h\n'), quotedValue('x'.repeat(65))]).toEqual([String.raw`"4h\n"`, `"${'x'.repeat(63)}…"`]);
});

it('passes over pods that have ended or are being deleted', () => {
  const pods = [
    aPod('4h', { phase: 'Failed' }),
    aPod('4h', { deletionTime: at('2024-01-01T10:00:00Z') }),
    aPod(undefined),
  ];
  expect(annotatedPods(pods, aPolicy())).toEqual([]);
});
