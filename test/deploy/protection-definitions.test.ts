/** What the API server accepts of a protection block is what the function reads. */
import { describe, expect, it } from 'vitest';
import { createApiServer } from '../../packages/kube-apiserver/src/api-server.ts';
import { ApiStatusError } from '../../packages/kube-apiserver/src/types.ts';
import { parseProtectionBlock } from '../../shared/contract/protection-schema.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { JsonObject } from '../../shared/domain/kubernetes-object.ts';
import { customResourceDefinitions } from '../../simulator/custom-resource-definitions.ts';
import { PROTECTION_BLOCKS } from '../contract/protection-blocks.ts';

const core = createApiServer({ clock: { now: () => Date.parse('2024-11-01T15:00:00Z') } });
for (const definition of customResourceDefinitions()) core.seed(definition);

function isAcceptedByServer(protection: JsonObject): boolean {
  const kind = 'NodeLifecyclePolicy';
  const manifest = { apiVersion: 'curfew.dev/v1alpha1', kind, metadata: { name: 'a' }, spec: { protection } };
  try {
    core.create(RESOURCES[kind], manifest, { dryRun: true });
    return true;
  } catch (error) {
    if (error instanceof ApiStatusError && error.status.code === 422) return false;
    throw error;
  }
}

describe('the protection block of a policy', () => {
  it.each(PROTECTION_BLOCKS)('%j: accepted %s', (block, isAccepted) => {
    const byTheFunction = parseProtectionBlock(block, 'protection').ok;
    expect({ byTheFunction, byTheServer: isAcceptedByServer(block) }).toEqual({
      byTheFunction: isAccepted,
      byTheServer: isAccepted,
    });
  });
});
