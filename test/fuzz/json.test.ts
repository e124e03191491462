/** JSON that users, other systems and other versions write: never a crash, never a hang; read, or refused with what is wrong. */
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromDueItem, fromItem, toItem } from '../../shared/adapters/dynamodb/items.ts';
import { parseDrainLimits } from '../../shared/contract/drain-limits-schema.ts';
import { parseHealthEvent } from '../../shared/contract/health-event.ts';
import { parseInboxMessage } from '../../shared/contract/inbox-message.ts';
import { parseNodePoolSelector, parsePolicyFrame, type ParseResult } from '../../shared/contract/policy-schema.ts';
import { parseProtectionBlock } from '../../shared/contract/protection-schema.ts';
import { parseRepairLimits } from '../../shared/contract/repair-limits-schema.ts';
import { parseRepairBlock } from '../../shared/contract/repair-schema.ts';
import { parsePoolTermination, parseTerminationBlock } from '../../shared/contract/termination-schema.ts';
import type { JsonObject, KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { selects } from '../../shared/domain/label-selector.ts';
import { readNodeClaim } from '../../shared/domain/node-claim.ts';
import { readNode } from '../../shared/domain/node.ts';
import { readPod } from '../../shared/domain/pod.ts';
import { addDuration, toDurationMs, toEpochMs, toIsoText } from '../../shared/domain/time.ts';
import { TerminalError } from '../../shared/errors.ts';
import { RECORD_TYPES } from '../fixtures/items/record-types.ts';
import { hostileJson, hostileText, RUNS, assertEach } from './hostile.ts';
import { REPAIR_BLOCK } from '../builders/repair-block.ts';
import { withoutStacks } from '../builders/without-stacks.ts';

withoutStacks();

const NOW = toEpochMs(Date.UTC(2024, 10, 1, 15));

const PROTECTION = {
  compatibility: 'Design',
  maxDuration: '24h',
  namespaces: [{ name: 'ci', maxDuration: '4h' }],
  warnBefore: '10m',
};
const DRAIN = { maxConcurrent: '20%', deadline: '4h', onDeadline: 'Force' };
const TERMINATION = {
  finalizerName: 'example.com/custom',
  scope: 'NodeClaimAndNode',
  terminationGracePeriod: '24h',
  builtin: 'Replace',
  hooks: [{ name: 'a', at: 'before-drain', lambda: { functionName: 'f' }, deadline: '10m', onTimeout: 'Proceed' }],
};
const DISRUPTION = { customFinalizerName: 'example.com/custom', terminationGracePeriodSeconds: 3600, budgets: [] };
const SELECTOR = {
  matchLabels: { team: 'edge', constructor: 'a' },
  matchExpressions: [
    { key: 'constructor', operator: 'Exists' },
    { key: 'a', operator: 'In', values: ['b', 'toString'] },
    { key: 'toString', operator: 'DoesNotExist' },
  ],
};

const CLUSTER_EVENT = {
  schemaVersion: 1,
  cluster: 'prod',
  change: 'Modified',
  subject: { kind: 'Node', apiVersion: 'v1', name: 'node-1', uid: 'uid-1' },
  resourceVersion: '7',
  changed: ['conditions'],
  hints: { nodePool: 'default', providerID: 'aws:///us-west-2a/i-0abc' },
  groupKey: 'node-1',
  eventKey: 'key',
  observedTime: '2024-11-01T15:00:00.000Z',
  watch: { group: 'g', version: 'v1', kind: 'K', state: 'Watching', since: '2024-11-01T15:00:00.000Z' },
};
const WAKE_UP = { schemaVersion: 1, owner: 'repair', subject: CLUSTER_EVENT.subject, wakeTime: NOW, repeated: true };
const message = (source: string, type: string, detail: object) => ({ id: 'i', source, 'detail-type': type, detail });
const MESSAGES = [
  message('curfew.forwarder', 'NodeChanged', CLUSTER_EVENT),
  message('curfew.forwarder', 'CustomResourceChanged', CLUSTER_EVENT),
  message('curfew.timer', 'WakeUp', WAKE_UP),
  message('curfew.timer', 'Tick', {}),
  message('nvsentinel', 'HealthEvent', { nodeName: 'node-1' }),
];
const HEALTH_EVENT = {
  version: 1,
  agent: 'gpu-health-monitor',
  isFatal: true,
  recommendedAction: 'RESTART_BM',
  errorCode: ['79'],
  entitiesImpacted: [{ entityType: 'GPU_UUID', entityValue: 'GPU-1' }],
  metadata: { node_name: 'a' },
  generatedTimestamp: '2024-11-01T15:00:00.250Z',
  nodeName: 'node-1',
  drainOverrides: { force: true },
  id: '67204be5d2c3f5a1b8e0c9d4',
};

/** Every instant that a parsed block leads to can be written as a date. */
function expectDates(value: unknown): void {
  if (typeof value === 'number' && Number.isFinite(value) && Math.abs(value) > 86_400_000) {
    assert(typeof toIsoText(addDuration(NOW, toDurationMs(value))) === 'string');
  } else if (value instanceof Map) for (const each of value.values()) expectDates(each);
  else if (typeof value === 'object' && value !== null) for (const each of Object.values(value)) expectDates(each);
}

function expectReadOrRefused(result: ParseResult<unknown>, path: string): void {
  if (result.ok) assert(typeof result.value === 'object');
  else assert(result.message.startsWith(path), result.message);
}

/** What it returns, or undefined when it was refused for good with this reason. */
function unlessRefused<Value>(reason: string, read: () => Value): Value | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof TerminalError)) throw error;
    // Plain comparisons: `expect` would be half the time of ten thousand cases.
    if (error.reason !== reason || error.message === '') expect(error).toMatchObject({ reason });
    return undefined;
  }
}

describe(`in ${RUNS} cases`, () => {
  it('a repair block is read or refused', () => {
    assertEach(hostileJson([REPAIR_BLOCK]), block => {
      const read = parseRepairBlock(block, 'spec.repair');
      expectReadOrRefused(read, 'spec.repair');
      if (!read.ok) return;
      const { overrides, defaultToleration, conditions, flapping } = read.value;
      expectDates([
        overrides.map(({ toleration }) => toleration),
        defaultToleration,
        conditions.map(({ toleration }) => toleration),
        flapping,
      ]);
      for (const { matchesReason } of conditions) assert(typeof (matchesReason?.('Ssd') ?? true) === 'boolean');
    });
  });

  it('limits of zone and cluster are read or refused', () => {
    assertEach(hostileJson([{ maxConcurrentRepairsPerZone: 2, maxConcurrentRepairsPerCluster: '5%' }]), block => {
      expectReadOrRefused(parseRepairLimits(block, 'spec.repairLimits'), 'spec.repairLimits');
    });
  });

  it('a protection block is read or refused', () => {
    assertEach(hostileJson([PROTECTION]), block => {
      const read = parseProtectionBlock(block, 'spec.protection');
      expectReadOrRefused(read, 'spec.protection');
      if (read.ok) expectDates(read.value);
    });
  });

  it('a drain block is read or refused', () => {
    assertEach(hostileJson([DRAIN]), block => {
      const read = parseDrainLimits(block, 'spec.drain');
      expectReadOrRefused(read, 'spec.drain');
      if (read.ok) expectDates(read.value);
    });
  });

  it('a termination block is read or refused', () => {
    assertEach(hostileJson([TERMINATION]), block => {
      const read = parseTerminationBlock(block, 'spec.termination');
      expectReadOrRefused(read, 'spec.termination');
      if (read.ok) expectDates(read.value);
    });
  });

  it('the disruption block of a NodePool is read or refused', () => {
    assertEach(hostileJson([DISRUPTION]), block => {
      const read = parsePoolTermination(block, 'spec.disruption');
      expectReadOrRefused(read, 'spec.disruption');
      if (read.ok) expectDates(read.value);
    });
  });

  it('the frame of a policy is read or refused, and its selector selects by what stands in the labels', () => {
    const labels = fc.constantFrom({}, { a: 'b' }, { team: 'edge', constructor: 'a', a: 'toString' });
    const frames = hostileJson([{ nodePoolSelector: SELECTOR, mode: 'Observe', repair: {} }]);
    assertEach(fc.tuple(frames, labels), ([spec, own]) => {
      const frame = parsePolicyFrame(spec);
      expectReadOrRefused(frame, 'spec');
      const selector = parseNodePoolSelector(spec);
      expectReadOrRefused(selector, 'spec');
      if (!selector.ok) return;
      const { matchLabels = {}, matchExpressions = [] } = selector.value;
      const values = new Map<string, string>(Object.entries(own));
      const expected =
        Object.entries(matchLabels).every(([key, value]) => values.get(key) === value) &&
        matchExpressions.every(({ key, operator, values: named = [] }) => {
          const value = values.get(key);
          if (operator === 'Exists') return value !== undefined;
          if (operator === 'DoesNotExist') return value === undefined;
          return (value !== undefined && named.includes(value)) === (operator === 'In');
        });
      assert.equal(selects(selector.value, own), expected);
    });
  });

  it('an inbox message, cluster events and wake-ups among them, is read or parked', () => {
    const bodies = fc.oneof(
      { weight: 4, arbitrary: hostileJson(MESSAGES).map(body => JSON.stringify(body) ?? '') },
      {
        weight: 1,
        arbitrary: hostileText(
          MESSAGES.map(body => JSON.stringify(body)),
          ['{', '}', '"', '[', ',', '\\u'],
        ),
      },
    );
    assertEach(bodies, body => {
      const read = unlessRefused('InvalidMessage', () => parseInboxMessage(body));
      if (read?.kind === 'wakeUp') assert(Number.isFinite(read.wakeTime));
      if (read?.kind === 'clusterEvent') assert(read.event.subject.uid !== '');
    });
  });

  it('a HealthEvent is read or refused', () => {
    const samples = [
      HEALTH_EVENT,
      { id: 'x', data: { healthEvent: HEALTH_EVENT, healthEventStatus: { nodeQuarantined: 'Quarantined' } } },
      { _id: 'y', healthevent: HEALTH_EVENT, healtheventstatus: { nodequarantined: 'Quarantined' } },
      { kind: 'HealthEventResource', spec: { ...HEALTH_EVENT, generatedTimestamp: { seconds: 1, nanos: 2 } } },
    ];
    assertEach(hostileJson(samples), detail => {
      const read = parseHealthEvent(detail, { id: 'envelope' });
      expectReadOrRefused(read, 'detail');
      if (read.ok) assert(read.value.event.nodeName !== '');
    });
  });

  it.each(RECORD_TYPES)('a record is read as it was written, or it is refused: $name', ({ codec, samples }) => {
    const codecs = RECORD_TYPES.length;
    assertEach(
      hostileJson(samples),
      state => {
        let value: unknown;
        try {
          value = codec.parse(state as JsonObject);
        } catch (error) {
          // The kernel's word for a bug: zod's error says where.
          assert(Array.isArray((error as { issues?: unknown }).issues), String(error));
          return;
        }
        const again = codec.parse(codec.toState(value));
        if (!isDeepStrictEqual(again, value)) expect(again).toEqual(value);
      },
      Math.ceil(RUNS / codecs),
    );
  });

  it('an item of the table is read as it was written, or refused', () => {
    const { subject } = CLUSTER_EVENT;
    const record = { owner: 'repair', id: 'node/uid-1', subject, state: { a: [1, { b: null }] } } as const;
    const item = { ...toItem({ ...record, nextWakeTime: NOW, hasOwnMessage: true }, 3, 'w') };
    assertEach(hostileJson([item]), raw => {
      const read = unlessRefused('InvalidRecord', () => fromItem(raw));
      if (read !== undefined)
        assert.deepStrictEqual(fromItem(toItem(read.record, read.record.version, 'w')).record, read.record);
      const due = unlessRefused('InvalidRecord', () => fromDueItem(raw));
      if (due !== undefined) assert(Number.isFinite(due.nextWakeTime));
    });
  });

  it('objects of the cluster are read, whatever their spec and status hold', () => {
    const conditions = [{ type: 'Ready', status: 'False', lastTransitionTime: '2024-11-01T14:00:00Z' }];
    const samples = [
      { spec: { providerID: 'aws:///us-west-2a/i-0abc' }, status: { conditions } },
      { spec: { terminationGracePeriod: '1h' }, status: { providerID: 'aws:///us-west-2a/i-0abc', conditions } },
      {
        spec: {
          nodeName: 'node-1',
          terminationGracePeriodSeconds: 30,
          tolerations: [{ key: 'a', operator: 'Exists' }],
          volumes: [
            { name: 'v', persistentVolumeClaim: { claimName: 'c' } },
            { name: 'e', ephemeral: {} },
          ],
        },
        status: { phase: 'Running', startTime: '2024-11-01T14:00:00Z', conditions },
      },
    ];
    assertEach(hostileJson(samples), parts => {
      const { spec, status } = Object(parts) as { spec?: unknown; status?: unknown };
      const fields = (part: unknown) => (typeof part === 'object' && part !== null ? (part as JsonObject) : undefined);
      const object: KubernetesObject = {
        apiVersion: 'v1',
        kind: 'Any',
        metadata: { name: 'n', uid: 'u', resourceVersion: '1', creationTimestamp: '2024-11-01T14:00:00Z' },
        ...(fields(spec) && { spec: fields(spec) ?? {} }),
        ...(fields(status) && { status: fields(status) ?? {} }),
      };
      const pod = readPod(object);
      expectDates([readNode(object).conditions.map(one => one.type), readNodeClaim(object).terminationGracePeriod]);
      expectDates(pod.terminationGracePeriod);
    });
  });
});

describe('lists as long as an object of etcd can hold', () => {
  const many = Array.from({ length: 30_000 }, (_, index) => ({ conditionType: `c${index}`, toleration: '1m' }));
  it('are refused at once', () => {
    expect(parseRepairBlock({ policies: many }, 'spec.repair')).toMatchObject({ ok: false });
    expect(parsePolicyFrame({ nodePoolSelector: { matchExpressions: many } })).toMatchObject({ ok: false });
    const hooks = Array.from({ length: 30_000 }, (_, index) => ({ ...TERMINATION.hooks[0], name: `h${index}` }));
    expect(parseTerminationBlock({ hooks }, 'spec.termination')).toMatchObject({ ok: false });
    const namespaces = many.map(({ conditionType: name }) => ({ name, maxDuration: '1h' }));
    expect(parseProtectionBlock({ namespaces }, 'spec.protection')).toMatchObject({ ok: false });
  });
});
