/** What is still known of a FinalizerRule that cannot be read as a whole. */
import { describe, expect, it } from 'vitest';
import { parseCleanUp, parseFinalizerRule } from '../../../shared/contract/finalizer-rule-schema.ts';
import { DEFAULT_RATE_LIMIT } from '../../../shared/domain/finalizer-rule.ts';
import { minutes } from '../../../shared/domain/time.ts';

const RULE = {
  group: 'example.com',
  version: 'v1',
  kind: 'Thing',
  finalizerName: 'example.com/a',
  cleanup: { lambda: { functionName: 'drop' } },
  deadline: '1h',
  onDeadline: 'Release',
  fromTheFuture: true,
};

describe('a rule with a mistake beside its clean-up', () => {
  it('cleans up as often as it says, and keeps no deadline, which would release (I1)', () => {
    const rateLimit = { perSecond: 0.1, concurrent: 1, longestBackoff: '1m' };
    expect(parseFinalizerRule({ ...RULE, rateLimit }).ok).toBe(false);
    expect(parseCleanUp({ ...RULE, rateLimit })).toMatchObject({
      cleanup: { kind: 'lambda', functionName: 'drop' },
      deadline: undefined,
      onDeadline: 'Keep',
      rateLimit: { perSecond: 0.1, concurrent: 1, longestBackoff: minutes(1) },
    });
  });

  it.each([undefined, { perSecond: 1_000 }, 'often'])(
    'cleans up as often as by default where it says %j',
    rateLimit => {
      expect(parseCleanUp({ ...RULE, rateLimit })?.rateLimit).toEqual(DEFAULT_RATE_LIMIT);
    },
  );

  it.each([
    ['its name is one of Kubernetes', { finalizerName: 'kubernetes.io/pvc-protection' }],
    ['its clean-up cannot be read', { cleanup: { lambda: {} } }],
    ['it is about Nodes', { group: '', kind: 'Node' }],
    ['it names no kind', { kind: '' }],
  ])('cleans nothing up where %s', (_title, fields) => {
    expect(parseCleanUp({ ...RULE, ...fields })).toBeUndefined();
  });
});
