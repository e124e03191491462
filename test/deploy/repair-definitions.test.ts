/** What the API server accepts of a repair block is what the function reads. */
import { describe, expect, it } from 'vitest';
import { createApiServer } from '../../packages/kube-apiserver/src/api-server.ts';
import { tableOf } from '../../packages/kube-apiserver/src/http/tables/table.ts';
import { ApiStatusError } from '../../packages/kube-apiserver/src/types.ts';
import { parseRepairLimits } from '../../shared/contract/repair-limits-schema.ts';
import { parseRepairBlock } from '../../shared/contract/repair-schema.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { JsonObject, JsonValue } from '../../shared/domain/kubernetes-object.ts';
import { invariant } from '../../shared/domain/invariant.ts';
import { customResourceDefinitions } from '../../simulator/custom-resource-definitions.ts';
import { REPAIR_BLOCKS, REPAIR_LIMITS } from '../contract/repair-blocks.ts';

const core = createApiServer({ clock: { now: () => Date.parse('2024-11-01T15:00:00Z') } });
for (const definition of customResourceDefinitions()) core.seed(definition);
let created = 0;

/** The block as the API server stores it; undefined when it refuses it. */
function stored(block: JsonObject, field = 'repair'): JsonValue | undefined {
  created += 1;
  const metadata = { name: `policy-${created}` };
  const apiVersion = 'curfew.dev/v1alpha1';
  const kind = 'NodeLifecyclePolicy';
  try {
    return core.create(RESOURCES[kind], { apiVersion, kind, metadata, spec: { [field]: block } }).spec?.[field];
  } catch (error) {
    if (error instanceof ApiStatusError && error.status.code === 422) return undefined;
    throw error;
  }
}

describe('the repair block of a policy', () => {
  it.each(REPAIR_BLOCKS)('%j: accepted %s', (block, isAccepted) => {
    expect({ byTheFunction: parseRepairBlock(block, 'repair').ok, byTheServer: stored(block) !== undefined }).toEqual({
      byTheFunction: isAccepted,
      byTheServer: isAccepted,
    });
  });

  it.each([
    [
      { conditions: [{ type: 'Ready', status: 'False' }] },
      'repair.conditions[0].toleration: is missing, a duration or Never expected',
    ],
    [
      { policies: [{ conditionType: 'Ready' }] },
      'repair.policies[0].toleration: is missing, a duration or Never expected',
    ],
    [
      { conditions: [{ type: 'DiskSlow', toleration: '5m' }] },
      'repair.conditions[0].status: is missing, one of "True", "False", "Unknown" expected',
    ],
    [
      { actions: [{ timeout: '5m' }] },
      'repair.actions[0].type: is missing, one of "Reboot", "DrainThenTerminate", "CustomResource", "ReplaceThenTerminate", "Terminate" expected',
    ],
  ])('%j: the function says what an entry lacks', (block, message) => {
    expect(parseRepairBlock(block, 'repair')).toEqual({ ok: false, message });
  });
});

/** What `kubectl apply` prints of it. */
function refusal(spec: JsonObject): string {
  const type = RESOURCES.NodeLifecyclePolicy;
  const policy = {
    apiVersion: 'curfew.dev/v1alpha1',
    kind: 'NodeLifecyclePolicy',
    metadata: { name: 'refused' },
    spec,
  };
  try {
    core.create(type, policy);
    core.delete({ type, name: policy.metadata.name });
    return 'accepted';
  } catch (error) {
    if (error instanceof ApiStatusError) return error.status.message ?? '';
    throw error;
  }
}

const hook = (times: JsonObject): JsonObject => ({
  hooks: [{ name: 'deregister', at: 'before-drain', event: { detailType: 'Deregister' }, ...times }],
});

describe('a duration that cannot be read is refused in a sentence', () => {
  const NOT_NEGATIVE = /must be a Go duration that is not negative, as in 10m or 1h30m/;
  const NEVER_OR_NOT_NEGATIVE = /must be Never, or a Go duration that is not negative, as in 10m or 1h30m/;
  const POSITIVE = /must be a positive Go duration/;
  it.each<[JsonObject, RegExp]>([
    [{ repair: { defaultTolerationDuration: '-5m' } }, NEVER_OR_NOT_NEGATIVE],
    [{ repair: { policies: [{ conditionType: 'Ready', toleration: '10x' }] } }, NEVER_OR_NOT_NEGATIVE],
    [{ repair: { conditions: [{ type: 'DiskSlow', status: 'True', toleration: '' }] } }, NEVER_OR_NOT_NEGATIVE],
    [{ repair: { actions: [{ type: 'Terminate', timeout: '5' }] } }, POSITIVE],
    [{ repair: { flapping: { window: '1d', unhealthyFor: '20m' } } }, POSITIVE],
    [{ repair: { flapping: { window: '1h', unhealthyFor: '1d' } } }, POSITIVE],
    [{ repair: { futility: { repairs: 3, window: '1w' } } }, POSITIVE],
    [{ termination: { terminationGracePeriod: '1d' } }, NOT_NEGATIVE],
    [{ termination: hook({ deadline: '-1m' }) }, POSITIVE],
    [{ termination: hook({ heartbeat: '1 m' }) }, POSITIVE],
    [{ protection: { maxDuration: '4d', warnBefore: '10m' } }, POSITIVE],
  ])('%j', (spec, sentence) => {
    const message = refusal(spec);
    expect(message).toMatch(sentence);
    expect(message).not.toMatch(/should match|evaluating rule|conversion|, spec\./);
  });
});

describe('what an entry or a ladder must not say is refused with its field', () => {
  const entry = { conditionType: 'Ready', toleration: '10m' };
  const own = { type: 'Ready', status: 'False', toleration: '10m' };
  const replace = { type: 'ReplaceThenTerminate' };
  it.each<[JsonObject, string]>([
    [{ policies: [{ ...entry, priority: 101 }] }, 'spec.repair.policies[0].priority'],
    [{ conditions: [{ ...own, priority: -1 }] }, 'spec.repair.conditions[0].priority'],
    [
      { policies: [{ ...entry, conditionType: 'KernelReady', confirm: 'InstanceStatus' }] },
      'spec.repair.policies[0].confirm',
    ],
    [{ conditions: [{ ...own, confirm: 'InstanceStatus' }] }, 'spec.repair.conditions[0].confirm'],
    [{ policies: [{ ...entry, confirm: 'SystemStatus' }] }, 'spec.repair.policies[0].confirm'],
    [{ actions: [{ type: 'Terminate' }, { type: 'Reboot' }] }, 'spec.repair.actions'],
    [{ policies: [{ ...entry, actions: [{ type: 'Terminate' }, replace] }] }, 'spec.repair.policies[0].actions'],
    [{ nodesWithoutNodeClaim: 'TerminateInAutoScalingGroup', actions: [replace] }, 'spec.repair'],
  ])('%j: %s', (repair, field) => {
    const byTheServer = refusal({ repair });
    expect(byTheServer).toContain(field);
    const read = parseRepairBlock(repair, 'spec.repair');
    expect(read.ok ? 'accepted' : read.message).toContain(field);
  });
});

describe('a toleration that never ends is accepted', () => {
  it.each<JsonObject>([
    { defaultTolerationDuration: 'Never' },
    { policies: [{ conditionType: 'Ready', toleration: 'Never' }] },
    { conditions: [{ type: 'DiskSlow', status: 'True', toleration: 'Never' }] },
    { policies: [{ conditionType: 'Ready', toleration: '8760h' }] },
  ])('%j', repair => {
    expect(refusal({ repair })).toBe('accepted');
  });

  it.each(['never', 'Never ', 'NEVER', 'forever'])('and no other word is: %j', toleration => {
    expect(refusal({ repair: { policies: [{ conditionType: 'Ready', toleration }] } })).toMatch(/must be Never, or/);
  });
});

it('shows in kubectl get what is accepted, in force, held and under repair', () => {
  const resource = core.resourceForKind('curfew.dev/v1alpha1', 'NodeLifecyclePolicy');
  invariant(resource !== undefined, 'the kind is served');
  const condition = (type: string, status: string): JsonObject => ({
    type,
    status,
    reason: 'Because',
    message: '',
    lastTransitionTime: '2024-11-01T15:00:00Z',
  });
  const policy = core.seed({
    apiVersion: 'curfew.dev/v1alpha1',
    kind: 'NodeLifecyclePolicy',
    metadata: { name: 'edge', creationTimestamp: '2024-11-01T13:00:00Z' },
    spec: { mode: 'Observe', repair: { defaultTolerationDuration: '30m', maxUnhealthy: '20%' } },
    status: {
      nodePools: 2,
      nodes: 30,
      held: 3,
      repairing: 1,
      conditions: [condition('Active', 'True'), condition('Accepted', 'False')],
    },
  });
  const options = { now: Date.parse('2024-11-01T15:00:00Z'), includeObject: 'None', metaVersion: 'v1' } as const;
  const { columnDefinitions, rows } = tableOf(resource, [policy], {}, options);
  const names = columnDefinitions?.map(({ name }) => name) ?? [];
  expect(Object.fromEntries(names.map((name, index) => [name, rows[0]?.cells[index]]))).toEqual({
    Name: 'edge',
    Mode: 'Observe',
    Accepted: 'False',
    Active: 'True',
    Pools: 2,
    Nodes: 30,
    Held: 3,
    Repairing: 1,
    'Default toleration': '30m',
    'Max unhealthy': '20%',
    Age: '120m',
  });
});

describe('the limits of a policy', () => {
  // A field that the definition does not know is dropped, unless the client asks for strict validation.
  const isKnown = (block: JsonObject): boolean => Object.keys(block).every(key => !key.endsWith('PerPool'));

  it.each(REPAIR_LIMITS)('%j: accepted %s', (block, isAccepted) => {
    expect(parseRepairLimits(block, 'repairLimits').ok).toBe(isAccepted);
    expect(stored(block, 'repairLimits') !== undefined).toBe(isAccepted || !isKnown(block));
  });
});
