/** The definition of NodeLifecyclePolicy on kube-apiserver: it refuses of repair and protection blocks what the functions refuse. */
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { parseRepairBlock } from '../../shared/contract/repair-schema.ts';
import type { JsonObject } from '../../shared/domain/kubernetes-object.ts';
import { applyFiles } from '../contract/api-server/manifests.ts';
import { EVENTUALLY, read, type ApiServerSubject } from '../contract/api-server/subject.ts';
import { PROTECTION_BLOCKS } from '../contract/protection-blocks.ts';
import { REPAIR_BLOCKS, REPAIR_LIMITS } from '../contract/repair-blocks.ts';
import { realSubjects } from './real-subject.ts';

const DEFINITION = 'deploy/crds/nodelifecyclepolicies.curfew.dev.yaml';
const isUnknown = (block: unknown): boolean => JSON.stringify(block).includes('PerPool');
const POLICIES = '/apis/curfew.dev/v1alpha1/nodelifecyclepolicies';

describe('the repair block on kube-apiserver', () => {
  const makeSubject = realSubjects();
  let subject: ApiServerSubject;
  beforeAll(async () => {
    subject = await makeSubject();
    await applyFiles(subject.http, [DEFINITION]);
    // A definition is served a moment after it was taken.
    await vi.waitFor(() => read(subject, POLICIES), EVENTUALLY);
  });

  const statusOf = (repair: JsonObject): Promise<number> => statusOfSpec({ repair });
  const statusOfSpec = async (spec: JsonObject): Promise<number> => {
    const body = {
      apiVersion: 'curfew.dev/v1alpha1',
      kind: 'NodeLifecyclePolicy',
      metadata: { name: 'a' },
      spec,
    };
    const { status } = await subject.http.call('POST', POLICIES, { body, query: { dryRun: 'All' } });
    return status;
  };

  it('is refused or accepted as the function does', async () => {
    const expected = REPAIR_BLOCKS.map(([block]) => [block, parseRepairBlock(block, 'repair').ok ? 201 : 422]);
    const answers = [];
    for (const [block] of REPAIR_BLOCKS) answers.push([block, await statusOf(block)]);
    expect(answers).toEqual(expected);
  });

  it('so is the protection block', async () => {
    const expected = PROTECTION_BLOCKS.map(([block, isAccepted]) => [block, isAccepted ? 201 : 422]);
    const answers = [];
    for (const [protection] of PROTECTION_BLOCKS) answers.push([protection, await statusOfSpec({ protection })]);
    expect(answers).toEqual(expected);
  });

  it('so are the limits of zone and cluster', async () => {
    const expected = REPAIR_LIMITS.map(([block, isAccepted]) => [block, isAccepted ? 201 : 422]);
    const answers = [];
    for (const [repairLimits] of REPAIR_LIMITS) answers.push([repairLimits, await statusOfSpec({ repairLimits })]);
    // A field that the definition does not know is dropped, unless the client asks for strict validation.
    expect(answers).toEqual(expected.map(([block, status]) => [block, isUnknown(block) ? 201 : status]));
  });
});
