import { describe, expect, it } from 'vitest';
import { toApiFailure } from '../../../../shared/adapters/kubernetes/api-failure.ts';
import { toThrown } from '../../../../shared/adapters/kubernetes/errors.ts';

const LONG = 'no '.repeat(100_000);

describe('what an admission webhook says', () => {
  it('is cut where it comes in, whatever it goes into then', () => {
    const failure = toApiFailure(403, {
      kind: 'Status',
      reason: 'Forbidden',
      message: `admission webhook "keep" denied the request: ${LONG}`,
      details: { causes: [{ reason: 'FieldValueInvalid', message: LONG, field: 'spec' }] },
    });
    expect(failure.message).toMatch(/^admission webhook "keep" denied the request: no no .*…$/);
    expect(failure.message).toHaveLength(1024);
    expect(failure.causes.map(({ message }) => message.length)).toEqual([1024]);
    expect(toThrown(failure, { doing: 'patching nodes n1', write: true }).message.length).toBeLessThan(1100);
  });
});
