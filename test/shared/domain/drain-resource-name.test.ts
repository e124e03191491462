import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { drainResourceName } from '../../../shared/domain/drain-resource-name.ts';
import { anyText } from '../../builders/any-text.ts';

describe('drainResourceName', () => {
  it("is the design's pattern", () => {
    expect(drainResourceName('node-1', '67204be5d2c3f5a1b8e0c9d4')).toBe('drain-node-1-67204be5d2c3f5a1b8e0c9d4');
    expect(drainResourceName('ip-10-0-0-1.ec2.internal', 'a')).toBe('drain-ip-10-0-0-1.ec2.internal-a');
  });

  it('is an object name whatever the id is', () => {
    const name = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
    fc.assert(
      fc.property(anyText({ minLength: 1, maxLength: 300 }), id => {
        const made = drainResourceName('node-1.example.com', id);
        expect(made).toMatch(name);
        expect(made.length).toBeLessThanOrEqual(253);
      }),
      { numRuns: 5000 },
    );
  });

  it('keeps ids apart that look alike', () => {
    expect(drainResourceName('n', 'A/1')).not.toBe(drainResourceName('n', 'a/1'));
    expect(drainResourceName('n', 'A_1')).not.toBe(drainResourceName('n', 'a-1'));
  });
});
