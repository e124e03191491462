/** What a write of the record keeps from being said again is said once, also while the table takes no writes (I9, I11). */
import { expect, it } from 'vitest';
import { RECONCILERS } from '../../runtime/functions.ts';
import { addDuration, minutes, parseTimestamp } from '../../shared/domain/time.ts';
import { RetryableError } from '../../shared/errors.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import { formatFailures } from '../../simulator/report.ts';
import { runScenario } from '../../simulator/run.ts';
import { drainsOf, historyText, scenarioOf } from '../builders/scenario.ts';

const START = parseTimestamp('2024-11-01T15:00:00Z');

/** No write of the function reaches the table in those minutes; reads do. */
function withoutWrites({ records, clock, ...deps }: FunctionDeps, from: number): FunctionDeps {
  const refused = (): Promise<never> | undefined => {
    const now = clock.now();
    const isOut =
      START !== undefined && now >= addDuration(START, minutes(from)) && now < addDuration(START, minutes(from + 4));
    return isOut ? Promise.reject(new RetryableError('the table takes no writes', { reason: 'Throttled' })) : undefined;
  };
  return {
    ...deps,
    clock,
    records: {
      get: key => records.get(key),
      put: (record, version) => refused() ?? records.put(record, version),
      delete: (key, version) => refused() ?? records.delete(key, version),
    },
  };
}

const POOL = '{ apiVersion: karpenter.sh/v1, kind: NodePool, metadata: { name: default } }';
const labels = 'labels: { karpenter.sh/nodepool: default }';
const ID = '"aws:///us-west-2a/i-1"';
const HELD = 'finalizers: [example.com/custom], annotations: { curfew.dev/termination-finalizer: example.com/custom }';
const CLAIM = `{ apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: { name: c1, ${labels}, ${HELD} }, status: { providerID: ${ID}, nodeName: n1 } }`;
const NODE = `{ apiVersion: v1, kind: Node, metadata: { name: n1, ${labels}, ${HELD} }, spec: { providerID: ${ID} }, status: { conditions: [{ type: Ready, status: "True" }] } }`;
const PROTECTED =
  '{ apiVersion: v1, kind: Pod, metadata: { namespace: ml, name: p1, annotations: { karpenter.sh/do-not-disrupt: 30m } }, spec: { nodeName: n1 }, status: { phase: Running } }';
const UNPROTECTED =
  '{ apiVersion: v1, kind: Pod, metadata: { namespace: ml, name: p1 }, spec: { nodeName: n1 }, status: { phase: Running } }';
const policyOf = (spec: string): string =>
  `{ apiVersion: curfew.dev/v1alpha1, kind: NodeLifecyclePolicy, metadata: { name: all }, spec: ${spec} }`;
const TERMINATION = 'termination: { finalizerName: example.com/custom }';
const DEFINITION =
  '{ apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: { name: databases.db.example.com }, spec: { group: db.example.com, scope: Namespaced, names: { plural: databases, singular: database, kind: Database, listKind: DatabaseList }, versions: [{ name: v1, served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } } }] } }';
const ruleOf = (onDeadline: string): string =>
  `{ apiVersion: curfew.dev/v1alpha1, kind: FinalizerRule, metadata: { name: db }, spec: { group: db.example.com, version: v1, kind: Database, finalizerName: db.example.com/cleanup, cleanup: { lambda: { functionName: drop } }, deadline: 10m, onDeadline: ${onDeadline} } }`;
const DATABASE =
  '{ apiVersion: db.example.com/v1, kind: Database, metadata: { name: d1, namespace: default }, spec: {} }';
const ofRule = (onDeadline: string): readonly string[] => [DEFINITION, ruleOf(onDeadline), DATABASE];
const FAILS = '{ at: 1m, cleanup: { rule: db, result: fail, message: x } }';
const deleteDatabase = '{ at: 5m, delete: { resource: databases, name: d1, namespace: default } }';
const strip = (resource: string, more = ''): string =>
  `{ at: 6m, patch: { resource: ${resource}${more}, merge: { metadata: { finalizers: [] } } } }`;
const deleteClaim = '{ at: 5m, delete: { resource: nodeclaims, name: c1 } }';
const asked = (at: string, id: string): string =>
  `{ at: ${at}, busEvent: { source: m, detail-type: HealthEvent, detail: { id: ${id}, nodeName: n1, isFatal: true } } }`;

interface Case {
  readonly function: 'finalizer' | 'drain';
  readonly rest?: string;
  readonly objects: readonly string[];
  readonly steps: readonly string[];
  /** The first minute of four without writes. */
  readonly out: number;
  readonly expect?: readonly string[];
}

it.each<[string, string, Case]>([
  [
    'an object is released at its deadline',
    'decision: orphan, reason: PossibleOrphan',
    { function: 'finalizer', objects: ofRule('Release'), steps: [FAILS, deleteDatabase], out: 14 },
  ],
  [
    'an object loses its finalizer',
    'decision: orphan, reason: PossibleOrphan',
    {
      function: 'finalizer',
      objects: ofRule('Keep'),
      steps: [FAILS, deleteDatabase, strip('databases', ', name: d1, namespace: default')],
      out: 6,
    },
  ],
  [
    'an object outlives its deadline',
    'decision: overdue, reason: FinalizationOverdue',
    { function: 'finalizer', objects: ofRule('Keep'), steps: [FAILS, deleteDatabase], out: 14 },
  ],
  [
    'an object has no rule any more',
    'decision: warn, reason: FinalizerWithoutRule',
    {
      function: 'finalizer',
      objects: ofRule('Keep'),
      steps: [
        '{ at: 5m, patch: { resource: finalizerrules, name: db, merge: { metadata: { finalizers: [] } } } }',
        '{ at: 5m, delete: { resource: finalizerrules, name: db } }',
        '{ at: 5m, patch: { resource: finalizerrules, name: db, merge: { metadata: { finalizers: [] } } } }',
      ],
      out: 5,
    },
  ],
  [
    'a termination is only observed',
    'decision: wouldTerminate',
    {
      function: 'finalizer',
      objects: [POOL, policyOf(`{ mode: Observe, ${TERMINATION} }`), CLAIM, NODE],
      steps: [deleteClaim],
      out: 5,
    },
  ],
  [
    'a termination awaits its settings',
    'decision: wait, reason: TerminationAwaitsSettings',
    {
      function: 'finalizer',
      objects: [
        POOL,
        policyOf('{ termination: { finalizerName: example.com/custom, terminationGracePeriod: 9999999h } }'),
        CLAIM,
        NODE,
      ],
      steps: [deleteClaim],
      out: 5,
      expect: ['{ event: { reason: InvalidTerminationConfiguration } }'],
    },
  ],
  [
    'a NodeClaim leaves its instance behind',
    'decision: orphan, reason: PossibleOrphan',
    {
      function: 'finalizer',
      objects: [POOL, policyOf(`{ ${TERMINATION} }`), CLAIM, NODE, PROTECTED],
      steps: [deleteClaim, strip('nodes', ', name: n1'), strip('nodeclaims', ', name: c1')],
      out: 6,
    },
  ],
  [
    'a drain waits for pods',
    'decision: wait, reason: AwaitingPodCompletion, message: "Waiting for following pods to finish: [ml/p1 ml/p2]"',
    {
      function: 'drain',
      rest: drainsOf('AllowCompletion'),
      objects: [POOL, NODE, UNPROTECTED],
      steps: [asked('4m', 'e1'), `{ at: 6m, apply: ${UNPROTECTED.replace('p1', 'p2')} }`],
      out: 6,
    },
  ],
])(
  'while the table takes no writes: %s',
  async (_, said, { function: name, rest = '', objects, steps, out, expect: others = [] }) => {
    const expectations = [`{ audit: { function: ${name}, ${said} }, times: 1 }`, ...others];
    const text = historyText({ duration: '50m', rest, objects, steps, expect: expectations });
    const reconcilers = {
      [name]: (deps: FunctionDeps) => RECONCILERS[name](withoutWrites(deps, out)),
    };
    expect(formatFailures(await runScenario(scenarioOf(text), { reconcilers }))).toEqual([]);
  },
);
