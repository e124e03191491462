/** Repair blocks, and whether API server and function accept them. */
import type { JsonObject, JsonValue } from '../../shared/domain/kubernetes-object.ts';

const durations: readonly [JsonValue, boolean][] = [
  ['30m', true],
  ['1h30m', true],
  ['1.5h', true],
  ['0', true],
  ['0s', true],
  ['-5m', false],
  ['10x', false],
  ['10', false],
  ['', false],
  ['99999999h', false],
  [30, false],
];
const counts: readonly [JsonValue, boolean][] = [
  [0, true],
  [3, true],
  ['0%', true],
  ['20%', true],
  ['100%', true],
  ['101%', false],
  ['020%', false],
  ['-1%', false],
  ['3', false],
  [-1, false],
  [1.5, false],
  [true, false],
  [Number.MAX_SAFE_INTEGER, true],
  [Number.MAX_SAFE_INTEGER + 1, false],
];
const outages: readonly [JsonValue, boolean][] = [
  ['Off', true],
  [false, true],
  [{}, true],
  [{ minNodes: 5 }, true],
  [{ minNodes: 5, share: '80%' }, true],
  [{ share: '0%' }, true],
  ['On', false],
  ['off', false],
  ['', false],
  [true, false],
  [3, false],
  [0, false],
  [[], false],
  [[{ minNodes: 3 }], false],
  [{ minNodes: 0 }, false],
  [{ minNodes: -3 }, false],
  [{ minNodes: 1.5 }, false],
  [{ minNodes: '3' }, false],
  [{ share: '110%' }, false],
  [{ share: 55 }, false],
  [{ minNodes: 3, share: '55%', zones: 2 }, false],
  [{ minNode: 3 }, false],
  [{ share: '55%', minnodes: 1 }, false],
  [{ minNodes: 3, Share: '55%' }, false],
  [{ minNodes: Number.MAX_SAFE_INTEGER }, true],
  [{ minNodes: Number.MAX_SAFE_INTEGER + 1 }, false],
];
const positive: readonly [JsonValue, boolean][] = durations.map(([value, ok]) => [
  value,
  ok && value !== '0' && value !== '0s',
]);
const condition = { type: 'Ready', status: 'False', toleration: '5m' };

/** What an entry of `policies` and one of `conditions` may say alike. */
const terms: readonly [JsonObject, boolean][] = [
  ...[0, 80, 100].map((priority): [JsonObject, boolean] => [{ priority }, true]),
  ...[-1, 101, 1.5, '80', true].map((priority): [JsonObject, boolean] => [{ priority }, false]),
  ...[['Inherit', true] as const, ['inherit', false] as const, ['Never', false] as const, ...durations].map(
    ([terminationGracePeriod, ok]): [JsonObject, boolean] => [{ terminationGracePeriod }, ok],
  ),
  [{ actions: [{ type: 'Reboot', timeout: '5m' }, { type: 'Terminate' }] }, true],
  [{ actions: [] }, false],
  [{ actions: [{ type: 'Terminate' }, { type: 'Reboot' }] }, false],
  [{ actions: [{ type: 'Reboot', attempts: 21 }] }, false],
  [{ reason: 'Xid(48|79)' }, true],
  [{ reason: '(' }, false],
];

export const REPAIR_BLOCKS: readonly [JsonObject, boolean][] = [
  ...terms.map(([entry, ok]): [JsonObject, boolean] => [
    { policies: [{ conditionType: 'Ready', toleration: '5m', ...entry }] },
    ok,
  ]),
  ...terms.map(([entry, ok]): [JsonObject, boolean] => [
    { conditions: [{ ...condition, status: 'Unknown', ...entry }] },
    ok,
  ]),
  ...[['Inherit', true] as const, ...durations].map(([terminationGracePeriod, ok]): [JsonObject, boolean] => [
    { terminationGracePeriod },
    ok,
  ]),
  [
    {
      policies: [
        { conditionType: 'Ready', toleration: '5m' },
        { conditionType: 'Ready', toleration: '5m', reason: 'a' },
        { conditionType: 'Ready', toleration: '5m', reason: 'b' },
      ],
    },
    true,
  ],
  [{ policies: ['5m', '10m'].map(toleration => ({ conditionType: 'Ready', toleration, reason: 'a' })) }, false],
  [{ conditions: [{ ...condition, reason: '(' }] }, false],
  ...['InstanceStatus', 'ApplicationStatus'].flatMap((confirm): [JsonObject, boolean][] => [
    [{ policies: [{ conditionType: 'Ready', toleration: '5m', confirm }] }, true],
    [{ policies: [{ conditionType: 'NetworkingReady', toleration: '5m', confirm }] }, false],
    [{ conditions: [{ ...condition, status: 'Unknown', confirm }] }, true],
    [{ conditions: [{ ...condition, confirm }] }, false],
    [{ conditions: [{ ...condition, type: 'DiskSlow', status: 'Unknown', confirm }] }, false],
  ]),
  ...['SystemStatus', 'instanceStatus', '', true].map((confirm): [JsonObject, boolean] => [
    { policies: [{ conditionType: 'Ready', toleration: '5m', confirm }] },
    false,
  ]),
  [{ defaultTolerationDuration: '9999999h' }, false],
  [{}, true],
  ...durations.map(([value, ok]): [JsonObject, boolean] => [{ defaultTolerationDuration: value }, ok]),
  ...durations.map(([toleration, ok]): [JsonObject, boolean] => [
    { policies: [{ conditionType: 'Ready', toleration }] },
    ok,
  ]),
  [{ policies: [{ toleration: '5m' }] }, false],
  [{ policies: [{ conditionType: '', toleration: '5m' }] }, false],
  [{ policies: [{ conditionType: 'Ready' }] }, false],
  [{ policies: ['5m', '10m'].map(toleration => ({ conditionType: 'Ready', toleration })) }, false],
  [{ policies: Array.from({ length: 65 }, (_, index) => ({ conditionType: `C${index}`, toleration: '5m' })) }, false],
  ...durations.map(([toleration, ok]): [JsonObject, boolean] => [{ conditions: [{ ...condition, toleration }] }, ok]),
  [{ conditions: [{ ...condition, status: 'Maybe' }] }, false],
  [{ conditions: [{ ...condition, status: true }] }, false],
  [{ conditions: [{ ...condition, type: '' }] }, false],
  [{ conditions: [{ ...condition, reason: 'Xid(48|79)' }] }, true],
  [{ conditions: [{ ...condition, reason: '' }] }, false],
  [{ conditions: [condition, condition] }, true],
  ...counts.map(([maxUnhealthy, ok]): [JsonObject, boolean] => [{ maxUnhealthy }, ok]),
  ...counts.map(([maxConcurrentRepairs, ok]): [JsonObject, boolean] => [{ maxConcurrentRepairs }, ok]),
  ...['Explicit', 'All', 'Ignore'].map((disruptionBudgets): [JsonObject, boolean] => [{ disruptionBudgets }, true]),
  ...['explicit', true, ''].map((disruptionBudgets): [JsonObject, boolean] => [{ disruptionBudgets }, false]),
  ...outages.map(([zoneOutage, ok]): [JsonObject, boolean] => [{ zoneOutage }, ok]),
  ...outages.map(([freeze, ok]): [JsonObject, boolean] => [{ freeze }, ok]),
  ...positive.map(([timeout, ok]): [JsonObject, boolean] => [{ actions: [{ type: 'Reboot', timeout }] }, ok]),
  [{ actions: [] }, false],
  [{ actions: [{ type: 'Sleep' }] }, false],
  [{ actions: [{ timeout: '5m' }] }, false],
  [{ actions: [{ type: 'Reboot' }, { type: 'DrainThenTerminate' }] }, true],
  [{ actions: [{ type: 'Terminate' }, { type: 'Reboot' }] }, false],
  [{ actions: [{ type: 'DrainThenTerminate' }, { type: 'Terminate' }] }, false],
  [{ actions: [{ type: 'CustomResource', template: 't' }, { type: 'Terminate' }] }, true],
  [{ actions: [{ type: 'CustomResource' }] }, false],
  [{ actions: [{ type: 'CustomResource', template: '' }] }, false],
  [{ actions: [{ type: 'Reboot', template: 't' }] }, false],
  ...positive.map(([window, ok]): [JsonObject, boolean] => [{ flapping: { window, unhealthyFor: '1ms' } }, ok]),
  [{ flapping: { window: '1h', unhealthyFor: '2h' } }, false],
  [{ flapping: { window: '1h', unhealthyFor: '0s' } }, false],
  [{ flapping: { window: '1h' } }, false],
  ...positive.map(([window, ok]): [JsonObject, boolean] => [{ futility: { window, repairs: 3 } }, ok]),
  ...[1, 100].map((repairs): [JsonObject, boolean] => [{ futility: { window: '1h', repairs } }, true]),
  ...[0, 101, 1.5, '3'].map((repairs): [JsonObject, boolean] => [{ futility: { window: '1h', repairs } }, false]),
  [{ actions: [{ type: 'ReplaceThenTerminate', timeout: '20m' }, { type: 'Terminate' }] }, true],
  [{ actions: [{ type: 'ReplaceThenTerminate' }], nodesWithoutNodeClaim: 'Ignore' }, true],
  [{ actions: [{ type: 'ReplaceThenTerminate' }], nodesWithoutNodeClaim: 'TerminateInAutoScalingGroup' }, false],
  ...(['policies', 'conditions'] as const).map((field): [JsonObject, boolean] => [
    {
      nodesWithoutNodeClaim: 'TerminateInAutoScalingGroup',
      [field]: [
        {
          ...(field === 'policies' ? { conditionType: 'Ready', toleration: '5m' } : condition),
          actions: [{ type: 'ReplaceThenTerminate' }],
        },
      ],
    },
    false,
  ]),
  [{ nodesWithoutNodeClaim: 'Ignore' }, true],
  [{ nodesWithoutNodeClaim: 'Terminate' }, false],
];

/** The same of `repairLimits`. */
export const REPAIR_LIMITS: readonly [JsonObject, boolean][] = [
  [{}, true],
  [{ maxConcurrentRepairsPerZone: 1, maxConcurrentRepairsPerCluster: '5%' }, true],
  [{ maxConcurrentRepairsPerPool: 1 }, false],
  ...counts.map(([maxConcurrentRepairsPerZone, ok]): [JsonObject, boolean] => [{ maxConcurrentRepairsPerZone }, ok]),
  ...counts.map(([maxConcurrentRepairsPerCluster, ok]): [JsonObject, boolean] => [
    { maxConcurrentRepairsPerCluster },
    ok,
  ]),
];
