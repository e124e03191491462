/** Whether EC2 confirms an incident whose entry asks for that: told from the raw block, and from what the cloud says itself. */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { CheckContext, Run } from './invariant.ts';
import { profileIn } from './ladder-past.ts';
import type { Mirror } from './mirror.ts';
import { claimOf } from './node-pool.ts';
import { repairBlockFor } from './policy-oracle.ts';
import { instanceOfNode, poolNameOf } from './reading.ts';
import { unhealthyConditionsOf, repairConditionsOf, type RepairCondition } from './repair-conditions.ts';

const CONFIRMED = 'impaired';

function illsIn(node: KubernetesObject, mirror: Mirror): readonly RepairCondition[] {
  const poolName = poolNameOf(claimOf(node, mirror) ?? node);
  const pool = mirror.named('nodepools', poolName);
  const block = repairBlockFor(pool, [...mirror.all('nodelifecyclepolicies').values()]);
  return unhealthyConditionsOf(node, repairConditionsOf(block, profileIn(mirror)));
}

type Cloud = Pick<CheckContext, 'mirror' | 'instanceCheck' | 'failsInstance'>;

const isDoubted = (node: KubernetesObject, { confirm }: RepairCondition, cloud: Cloud): boolean =>
  confirm !== undefined &&
  (cloud.failsInstance(instanceOfNode(node) ?? '') ||
    cloud.instanceCheck(instanceOfNode(node) ?? '', confirm) !== CONFIRMED);

/** Some entry that may decide waits for it. */
export const mayBeDoubted = (node: KubernetesObject, cloud: Cloud): boolean =>
  illsIn(node, cloud.mirror).some(each => isDoubted(node, each, cloud));

/** Whichever entry decides waits for it. */
export const isSurelyDoubted = (node: KubernetesObject, cloud: Cloud): boolean =>
  illsIn(node, cloud.mirror).every(each => isDoubted(node, each, cloud));

/** The run has asked, for any of the entries that may decide, and EC2 has said so; or one of them asks for nothing. */
export const wasConfirmed = (node: KubernetesObject, deciding: readonly RepairCondition[], { calls }: Run): boolean =>
  deciding.some(
    ({ confirm }) =>
      confirm === undefined ||
      calls.some(
        ({ port, method, args, outcome }) =>
          port === 'instances' &&
          method === 'checkOf' &&
          args[0] === (instanceOfNode(node) ?? '') &&
          args[1] === confirm &&
          outcome.kind === 'answered' &&
          outcome.value === CONFIRMED,
      ),
  );
