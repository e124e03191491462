import { describe, expect, it } from 'vitest';
import { complaints, simulate } from './simulate.ts';

describe('the definitions of a simulated cluster', () => {
  it('keep fields that a policy must not have, and fill in defaults all the same', async () => {
    const result = await simulate(`  objects:
    - apiVersion: curfew.dev/v1alpha1
      kind: NodeLifecyclePolicy
      metadata: { name: p }
      spec: { mod: Observe, termination: { hook: x } }
  expect:
    - final:
        resource: nodelifecyclepolicies
        name: p
        match: { spec: { mod: Observe, termination: { hook: x, finalizerName: curfew.dev/termination } } }
`);
    expect(complaints(result)).toEqual([]);
  });
});
