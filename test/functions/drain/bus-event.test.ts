import { describe, expect, it } from 'vitest';
import { meaningOf, isSentBefore } from '../../../functions/drain/bus-event.ts';
import { RECONCILERS, type ReconcilerFactory } from '../../../runtime/functions.ts';
import { parseHealthEvent } from '../../../shared/contract/health-event.ts';
import { FUNCTION_NAMES, type FunctionName } from '../../../shared/contract/names.ts';
import { addDuration, minutes, toEpochMs } from '../../../shared/domain/time.ts';
import type { KubernetesApi } from '../../../shared/ports/kubernetes-api.ts';
import { runScenario } from '../../../simulator/run.ts';
import { scenarioOf } from '../../builders/scenario.ts';

const event = { id: 'e1', nodeName: 'n1' };
const status = (nodeQuarantined: unknown) => ({ nodeQuarantined, userPodsEvictionStatus: { status: '' } });
const flat = (fields: object) => ({ ...event, ...fields });
const exported = (fields: object, healthEventStatus?: object) => ({
  data: { healthEvent: { ...event, ...fields }, healthEventStatus },
});
const stored = (fields: object, nodeQuarantined?: unknown) => ({
  _id: 'd1',
  healthevent: { nodename: 'n1', ...fields },
  healtheventstatus: status(nodeQuarantined),
});
const resource = (fields: object, nodeQuarantined?: unknown) => ({
  kind: 'HealthEventResource',
  spec: { ...event, ...fields },
  status: status(nodeQuarantined),
});

describe('what a HealthEvent asks for', () => {
  it.each<[string, object, string]>([
    ['flat, says nothing', flat({}), 'drain'],
    ['flat, fatal', flat({ isFatal: true }), 'drain'],
    ['flat, fatal, recommends NONE', flat({ isFatal: true, recommendedAction: 'NONE' }), 'drain'],
    ['flat, not fatal', flat({ isFatal: false, recommendedAction: 'RESTART_BM' }), 'notQuarantined'],
    ['flat, recommends NONE', flat({ recommendedAction: 0 }), 'notQuarantined'],
    ['flat, healthy', flat({ isHealthy: true }), 'recovered'],
    ['flat, not fatal, forced', flat({ isFatal: false, drainOverrides: { force: true } }), 'drain'],
    ['flat, not fatal, quarantined', flat({ isFatal: false, nodeQuarantined: 'Quarantined' }), 'drain'],
    ['flat, NotStarted', flat({ healthEventStatus: { nodeQuarantined: 'NotStarted' } }), 'drain'],
    ['flat, a word of another release', flat({ isFatal: true, nodeQuarantined: 'SkippedByProfile' }), 'notQuarantined'],
    ['exported, says nothing', exported({}), 'notQuarantined'],
    ['exported, fatal', exported({ isFatal: true }), 'drain'],
    ['exported, quarantined', exported({}, status('AlreadyQuarantined')), 'drain'],
    ['stored, fatal, without a status', stored({ isfatal: true }, ''), 'notQuarantined'],
    ['stored, fatal, null', stored({ isfatal: true }, null), 'notQuarantined'],
    ['stored, NotStarted', stored({ isfatal: true }, 'NotStarted'), 'notQuarantined'],
    ['stored, quarantined', stored({}, 'Quarantined'), 'drain'],
    ['stored, forced', stored({ drainoverrides: { force: true } }, ''), 'drain'],
    ['stored, healthy', stored({ ishealthy: true }, ''), 'recovered'],
    ['resource, fatal, without a status', resource({ isFatal: true }), 'notQuarantined'],
    ['resource, quarantined', resource({}, 'Quarantined'), 'drain'],
    ['resource, a word of another release, forced', resource({ drainOverrides: { force: true } }, 'Maybe'), 'drain'],
    ['un-quarantined', flat({ isHealthy: true, nodeQuarantined: 'UnQuarantined' }), 'unQuarantined'],
    ['cancelled', flat({ nodeQuarantined: 'Cancelled' }), 'cancelled'],
    ['for the record', flat({ isFatal: true, processingStrategy: 'STORE_ONLY' }), 'nothing'],
    ['a strategy of another release', flat({ isFatal: true, processingStrategy: 'ASK_A_PERSON' }), 'nothing'],
    ['drained already', flat({ nodeQuarantined: 'Quarantined', healthEventStatus: { nodeQuarantined: 'Quarantined', userPodsEvictionStatus: { status: 'Succeeded' } } }), 'nothing'], // prettier-ignore
    ['skipped by a profile', flat({ healthEventStatus: { nodeQuarantined: 'Quarantined', userPodsEvictionStatus: { status: 'Skipped' } } }), 'drain'], // prettier-ignore
  ])('%s', (_, detail, kind) => {
    const read = parseHealthEvent(detail);
    if (!read.ok) throw new Error(read.message);
    expect(meaningOf(read.value).kind).toBe(kind);
  });
});

const PODS = 15;
const pod = (_: unknown, index: number): string =>
  `    - { apiVersion: v1, kind: Pod, metadata: { namespace: ml, name: p${index} }, spec: { nodeName: n1 } }`;

const DRAIN = `
apiVersion: curfew.dev/v1alpha1
kind: Scenario
metadata: { name: requests }
spec:
  start: "2024-11-01T15:00:00Z"
  duration: 5m
  actors: [kubelet]
  config: |
    [[userNamespaces]]
    name = "*"
    mode = "Immediate"
  objects:
    - { apiVersion: v1, kind: Node, metadata: { name: n1 }, spec: { providerID: "aws:///us-west-2a/i-1" } }
${Array.from({ length: PODS }, pod).join('\n')}
  steps:
    - { at: 1m, busEvent: { source: nvsentinel, detail-type: HealthEvent, detail: { id: e1, nodeName: n1, isFatal: true } } }
  expect: []
`;

/** `drain list pods`, for each call from the event on, and who wrote a record of the node. */
async function callsOfDrain(): Promise<{ readonly calls: readonly string[]; readonly writes: readonly string[] }> {
  const scenario = scenarioOf(DRAIN);
  const calls: string[] = [];
  const writes: string[] = [];
  const begin = addDuration(scenario.start, minutes(1));
  const counted =
    (name: FunctionName): ReconcilerFactory =>
    deps => {
      const note = (verb: string, resource: string): void => {
        if (deps.clock.now() >= begin) calls.push(`${name} ${verb} ${resource}`);
      };
      const kubernetes: KubernetesApi = {
        get: ref => (note('get', ref.type.resource), deps.kubernetes.get(ref)),
        list: (type, ...rest) => (note('list', type.resource), deps.kubernetes.list(type, ...rest)),
        create: (type, manifest) => (note('create', type.resource), deps.kubernetes.create(type, manifest)),
        patch: (ref, ...rest) => (note('patch', ref.type.resource), deps.kubernetes.patch(ref, ...rest)),
        delete: (ref, options) => (note('delete', ref.type.resource), deps.kubernetes.delete(ref, options)),
        evict: (ref, options) => (note('evict', ref.type.resource), deps.kubernetes.evict(ref, options)),
        resolve: kind => (note('resolve', kind.kind), deps.kubernetes.resolve(kind)),
        versionsOf: what => (note('versionsOf', what.group), deps.kubernetes.versionsOf(what)),
      };
      return RECONCILERS[name]({
        ...deps,
        kubernetes,
        records: {
          ...deps.records,
          put(record, version) {
            if (record.id.startsWith('node/')) writes.push(name);
            return deps.records.put(record, version);
          },
        },
        events: { record: event => (note('say', event.reason), deps.events.record(event)) },
      });
    };
  const reconcilers = Object.fromEntries(FUNCTION_NAMES.map(name => [name, counted(name)]));
  const { trace } = await runScenario(scenario, { reconcilers });
  expect(trace.filter(({ line }) => line['verb'] === 'evict')).toHaveLength(PODS);
  return { calls, writes };
}

describe('a drain of many pods', () => {
  it('looks once before it evicts, says so once, and starts no other function', async () => {
    const { calls, writes } = await callsOfDrain();
    const first = calls.findIndex(call => call.startsWith('drain evict'));
    const once = calls.slice(0, first).filter(call => call.startsWith('drain'));
    expect(once.toSorted()).toEqual([
      'drain get configmaps',
      'drain get nodes',
      'drain list nodelifecyclepolicies',
      'drain list pods',
      'drain patch nodes',
      // Its condition `DrainInProgress`.
      'drain patch nodes',
      'drain say DrainStarted',
    ]);
    expect(calls.filter(call => call.startsWith('drain say'))).toEqual([
      'drain say DrainStarted',
      'drain say Evicted',
      'drain say DrainSucceeded',
    ]);
    expect(calls.filter(call => call === 'drain patch nodes')).toHaveLength(4);
    // Begun, prepared, how far it is when the first pods have gone, ended, closed, kept: that pods are evicted is noted before.
    expect(writes).toEqual(Array.from({ length: 6 }, () => 'drain'));
    const others = calls.filter(call => !call.startsWith('drain'));
    expect(others).toEqual([]);
    expect(calls.length).toBeLessThanOrEqual(2 * PODS + 15);
  });
});

describe('a message that names a node', () => {
  const created = '2024-11-01T15:00:10Z';
  const node = { metadata: { name: 'n1', uid: 'u2', resourceVersion: '1', creationTimestamp: created } };
  const sentAt = (second: number) => toEpochMs(Date.UTC(2024, 10, 1, 15, 0, second));

  it.each([
    ['sent before the Node was there', undefined, sentAt(4), true],
    ['sent at that time, as far as clocks go', undefined, sentAt(5), false],
    ['sent afterwards', undefined, sentAt(20), false],
    ['that says which one', 'u2', sentAt(0), false],
    ['sent nobody knows when', undefined, undefined, false],
  ])('%s', (_, uid, sentTime, isBefore) => {
    expect(isSentBefore({ apiVersion: 'v1', kind: 'Node', ...node }, { uid, sentTime })).toBe(isBefore);
  });
});
