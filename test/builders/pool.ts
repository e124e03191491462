/** What tests of a whole pool share: the time of its pass, its actions, a block that holds nobody, its objects. */
import type { JsonObject, KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { RepairInForce } from '../../functions/repair/node/rule/settings-in-force.ts';
import { addDuration, type EpochMs, minutes, toDurationMs } from '../../shared/domain/time.ts';
import { newNode } from '../../functions/repair/node/rule/attempt.ts';
import type { NodeRecord } from '../../functions/repair/node/record.ts';
import { someRepairInForce, T } from './repair.ts';

/** When nodes of `aPoolNode` are due. */
export const NOW = addDuration(T, minutes(30));
/** Minutes from now; negative: before. */
export const at = (minute: number): EpochMs => addDuration(NOW, toDurationMs(minute * 60_000));

export const REBOOT = { type: 'Reboot', timeout: '10m' };
export const FIX = { type: 'CustomResource', template: 'fix.yaml', timeout: '5m' };
export const TERMINATE = { type: 'Terminate', timeout: '1h' };
export const REPLACE = { type: 'ReplaceThenTerminate', timeout: '15m' };

/** Rules whose guards hold nobody. */
export const open = (block: JsonObject = {}, more: Partial<RepairInForce> = {}): RepairInForce =>
  someRepairInForce({ maxUnhealthy: '100%', zoneOutage: 'Off', freeze: 'Off', ...block }, more);

/** What is remembered of a node of `aPoolNode` that is unhealthy. */
export const remembered = (more: Partial<NodeRecord> = {}, name = 'n1'): NodeRecord => ({
  ...newNode(name, 'default'),
  onsets: { 'Ready=False': { start: T, stated: T } },
  ...more,
});

/** NodePool `default`. */
export const aNodePool = (spec?: JsonObject): KubernetesObject => ({
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodePool',
  metadata: { name: 'default', uid: 'uid-p', resourceVersion: '1', creationTimestamp: '2024-11-01T00:00:00Z' },
  ...(spec && { spec }),
});
