import { describe, expect, it } from 'vitest';
import { isGateOpen } from '../../../simulator/invariants/repair-oracle.ts';

const withText = (text: string | undefined) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'curfew-config', uid: 'u', resourceVersion: '1', creationTimestamp: '2024-11-01T15:00:00Z' },
  data: text === undefined ? {} : { 'config.toml': text },
});
const USERS = '[[userNamespaces]]\nname = "*"\nmode = ';

describe('the gate of repair', () => {
  it.each([
    ['is open by the configuration', '[featureGates]\nnodeRepair = true\n', true],
    ['is closed where nothing opens it', `${USERS}"Immediate"\n`, false],
    ['is closed without a configuration', undefined, false],
    ['is as it was where that is no TOML', '[featureGates\n', undefined],
    ['is as it was where that is no word for it', '[featureGates]\nnodeRepair = "on"\n', undefined],
    ['is as it was where another field of that is not valid', `${USERS}"Soon"\n`, undefined],
  ])('%s', (_, text, expected) => {
    expect(isGateOpen(withText(text))).toBe(expected);
  });
});
