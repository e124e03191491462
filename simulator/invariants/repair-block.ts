/** Which `repair` blocks Curfew must accept: an answer of its own, so that a mistake in the schema of the product is not repeated here. */
import { RE2JS } from 're2js';
import {
  fieldsOf,
  isListOf,
  isObjectOf,
  isOneOf,
  isTextOf,
  listOf,
  millisecondsOf,
  textOf,
  type IsReadable,
  isDuration,
} from './reading.ts';

const LONGEST_LIST = 64;
const LONGEST_LADDER = 8;
/** A qualified name: a domain, a slash, a label. */
const isType = isTextOf(316);
/** A key of a ConfigMap. */
const isKey = isTextOf(253);

const isWhole =
  (least: number, most = Infinity): IsReadable =>
  value =>
    typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most;

const isToleration: IsReadable = value => value === 'Never' || isDuration(0)(value);
const isTime = isDuration(1);

const isShare: IsReadable = value => typeof value === 'string' && /^(100|[1-9]?\d)%$/.test(value);
const isNodeCount: IsReadable = value => isWhole(0)(value) || isShare(value);

const isOutageRule: IsReadable = value =>
  isOneOf('Off', false)(value) || isObjectOf({ minNodes: isWhole(1), share: isShare })(value);

const isPattern: IsReadable = value => {
  if (!isTextOf(1024)(value)) return false;
  try {
    RE2JS.compile(String(value));
    return true;
  } catch {
    return false;
  }
};

/** Nothing can follow them. */
const ENDING: readonly string[] = ['Terminate', 'DrainThenTerminate'];
const isAction: IsReadable = value => {
  const { type, template } = fieldsOf(value);
  const isKnown = isObjectOf(
    {
      type: isOneOf('Reboot', 'CustomResource', 'ReplaceThenTerminate', ...ENDING),
      timeout: isTime,
      template: isKey,
      attempts: isWhole(1, 20),
      within: isTime,
    },
    ['type'],
  );
  return isKnown(value) && (type === 'CustomResource') === (template !== undefined);
};
const isLadder: IsReadable = value =>
  isListOf(isAction, LONGEST_LADDER)(value) &&
  listOf(value).length > 0 &&
  listOf(value)
    .slice(0, -1)
    .every(action => !ENDING.includes(textOf(fieldsOf(action)['type']) ?? ''));

const isDrainBound: IsReadable = value => value === 'Inherit' || isDuration(0)(value);

const TERMS = {
  reason: isPattern,
  toleration: isToleration,
  priority: isWhole(0, 100),
  terminationGracePeriod: isDrainBound,
  actions: isLadder,
  confirm: isOneOf('InstanceStatus', 'ApplicationStatus'),
};
const isCondition: IsReadable = value => {
  const { confirm, type, status } = fieldsOf(value);
  const required = ['type', 'status', 'toleration'];
  const isKnown = isObjectOf({ ...TERMS, type: isType, status: isOneOf('True', 'False', 'Unknown') }, required);
  return isKnown(value) && (confirm === undefined || (type === 'Ready' && status === 'Unknown'));
};

const isOverride: IsReadable = value => {
  const { confirm, conditionType: type } = fieldsOf(value);
  const isKnown = isObjectOf({ ...TERMS, conditionType: isType }, ['conditionType', 'toleration']);
  return isKnown(value) && (confirm === undefined || type === 'Ready');
};
const isOverrideList: IsReadable = value => {
  const keys = listOf(value).map(entry =>
    JSON.stringify([fieldsOf(entry)['conditionType'], fieldsOf(entry)['reason']]),
  );
  return isListOf(isOverride, LONGEST_LIST)(value) && new Set(keys).size === keys.length;
};

const isFlapping: IsReadable = value => {
  const { window, unhealthyFor } = fieldsOf(value);
  const isShaped = isObjectOf({ window: isTime, unhealthyFor: isTime }, ['window', 'unhealthyFor'])(value);
  return isShaped && (millisecondsOf(unhealthyFor) ?? 0) <= (millisecondsOf(window) ?? 0);
};

/** Nodes without NodeClaims have nothing to be replaced. */
const replacesNone = (block: unknown): boolean => {
  const { nodesWithoutNodeClaim, actions, policies, conditions } = fieldsOf(block);
  if ((nodesWithoutNodeClaim ?? 'Ignore') === 'Ignore') return true;
  const lists = [actions, ...[...listOf(policies), ...listOf(conditions)].map(entry => fieldsOf(entry)['actions'])];
  return !lists.flatMap(listOf).some(action => fieldsOf(action)['type'] === 'ReplaceThenTerminate');
};

/** A block of the right shape, whatever stands in it. */
export const isRepairReadable: IsReadable = block => isShaped(block) && replacesNone(block);

const isShaped: IsReadable = isObjectOf({
  defaultTolerationDuration: isToleration,
  policies: isOverrideList,
  conditions: isListOf(isCondition, LONGEST_LIST),
  terminationGracePeriod: isDrainBound,
  maxUnhealthy: isNodeCount,
  maxConcurrentRepairs: isNodeCount,
  disruptionBudgets: isOneOf('Explicit', 'All', 'Ignore'),
  zoneOutage: isOutageRule,
  freeze: isOutageRule,
  actions: isLadder,
  flapping: isFlapping,
  futility: isObjectOf({ repairs: isWhole(1, 100), window: isTime }, ['repairs', 'window']),
  nodesWithoutNodeClaim: isOneOf('Ignore', 'TerminateInAutoScalingGroup'),
});

/** The same for `repairLimits`. */
export const isLimitsReadable: IsReadable = isObjectOf({
  maxConcurrentRepairsPerZone: isNodeCount,
  maxConcurrentRepairsPerCluster: isNodeCount,
});
