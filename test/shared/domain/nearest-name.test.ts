import { describe, expect, it } from 'vitest';
import { nearestName, suggestion } from '../../../shared/domain/nearest-name.ts';

const KNOWN = ['featureGates', 'systemNamespaces', 'userNamespaces', 'customDrain'];

describe('nearestName', () => {
  it.each([
    ['featuregates', 'featureGates'],
    ['featureGate', 'featureGates'],
    ['featuerGates', 'featureGates'],
    ['userNamespace', 'userNamespaces'],
    ['sytemNamespaces', 'systemNamespaces'],
    ['custom_drain', 'customDrain'],
    ['zzz', undefined],
    ['', undefined],
    ['x'.repeat(10_000), undefined],
  ])('%s is near %s', (name, expected) => {
    expect(nearestName(name, KNOWN)).toBe(expected);
  });

  it('is a question in a message', () => {
    expect(suggestion('featuregates', KNOWN)).toBe(', did you mean "featureGates"?');
    expect(suggestion('zzz', KNOWN)).toBe('');
  });
});
