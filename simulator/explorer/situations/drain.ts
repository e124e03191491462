/** Drains: what two messages about one node, or about its pods, may get in each other's way with. */
import type { JsonObject, KubernetesManifest } from '../../../shared/domain/kubernetes-object.ts';
import { HEALTH_EVENT } from '../../../shared/contract/names.ts';
import { clusterEvent, wakeUpOfNode } from '../messages.ts';
import type { Message, Situation } from '../situation.ts';
import { node, nodeRef, patched, podRef, policy, policyRef, PROD, removed, START } from './changes.ts';
import { BUDGET, budgetEvent, budgetRef, OTHER_POD, POD, podEvent, PROTECTED } from './drained-pods.ts';

const config = (mode: string): KubernetesManifest => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'curfew', name: 'curfew-config', uid: 'uid-config' },
  data: { 'config.toml': `[[userNamespaces]]\nname = "*"\nmode = "${mode}"\n` },
});
export const CONFIG = config('Immediate');

const healthEvent = (id: string, detail: JsonObject = {}): Message => ({
  name: `HealthEvent ${id}`,
  to: 'drain',
  body: () =>
    JSON.stringify({
      id: `bus-${id}`,
      source: 'nvsentinel',
      'detail-type': HEALTH_EVENT,
      detail: { id, nodeName: 'n1', agent: 'monitor', checkName: 'XidError', isFatal: true, ...detail },
    }),
});
export const ASKED = healthEvent('one');
export const RECOVERED = healthEvent('two', { isFatal: false, isHealthy: true });
const nodeEvent = (change: 'Modified' | 'Deleted' = 'Modified'): Message =>
  clusterEvent('drain', {
    kind: 'Node',
    apiVersion: 'v1',
    name: 'n1',
    uid: 'uid-n1',
    change,
    hints: { nodeName: 'n1' },
  });

/** An eviction that a run made, and died or was overtaken before it could count it. */
const INEXACT = ['finished.drained', 'finished.message'];
export const BASE = { concern: 'drain', start: START, inexact: INEXACT, caches: ['configuration'] } as const;

export const DRAIN_SITUATIONS: readonly Situation[] = [
  {
    ...BASE,
    name: 'one request comes twice',
    objects: [PROD, CONFIG, node('n1'), POD],
    messages: { A: ASKED, B: ASKED },
  },
  {
    ...BASE,
    name: 'two requests of one node come at once',
    isLong: true,
    objects: [PROD, CONFIG, node('n1')],
    messages: { A: ASKED, B: healthEvent('other', { checkName: 'ThermalThrottle' }) },
  },
  {
    ...BASE,
    name: 'the fault is over while the drain begins',
    objects: [PROD, CONFIG, node('n1'), PROTECTED],
    earlier: [
      { kind: 'dieBefore', description: /^patch nodes/ },
      { kind: 'message', message: ASKED },
    ],
    messages: { A: wakeUpOfNode('drain', 'n1'), B: RECOVERED },
  },
  {
    ...BASE,
    name: 'the fault is over while a protected pod is waited for',
    objects: [PROD, CONFIG, node('n1'), PROTECTED],
    earlier: [{ kind: 'message', message: ASKED }],
    messages: { A: RECOVERED, B: podEvent('drain', 'Modified') },
  },
  {
    ...BASE,
    name: 'a person uncordons the node when its last pod goes',
    objects: [PROD, CONFIG, node('n1'), PROTECTED],
    earlier: [{ kind: 'message', message: ASKED }],
    messages: { A: nodeEvent(), B: podEvent('drain', 'Deleted') },
    changes: [
      patched('node n1 uncordoned', nodeRef('n1'), { spec: { unschedulable: null } }, 'A'),
      removed('pod web deleted', podRef('web'), 'B'),
    ],
  },
  {
    ...BASE,
    name: 'the last two pods go one after the other',
    objects: [PROD, CONFIG, node('n1'), PROTECTED, OTHER_POD],
    earlier: [{ kind: 'message', message: ASKED }],
    messages: { A: podEvent('drain', 'Deleted'), B: wakeUpOfNode('drain', 'n1') },
    changes: [removed('pod web deleted', podRef('web'), 'A'), removed('pod api deleted', podRef('api'), 'B')],
  },
  {
    ...BASE,
    name: 'the fault is over when the last pod goes',
    objects: [PROD, CONFIG, node('n1'), PROTECTED],
    earlier: [{ kind: 'message', message: ASKED }],
    messages: { A: podEvent('drain', 'Deleted'), B: RECOVERED },
    changes: [removed('pod web deleted', podRef('web'), 'A')],
  },
  {
    ...BASE,
    name: 'another fault is reported when the last pod goes',
    objects: [PROD, CONFIG, node('n1'), PROTECTED],
    earlier: [{ kind: 'message', message: ASKED }],
    messages: { A: podEvent('drain', 'Deleted'), B: healthEvent('other', { checkName: 'ThermalThrottle' }) },
    changes: [removed('pod web deleted', podRef('web'), 'A')],
  },
  {
    ...BASE,
    name: 'the policy turns to Observe when the last pod goes',
    objects: [PROD, CONFIG, policy({ mode: 'Enforce', drain: { maxConcurrent: 5 } }), node('n1'), PROTECTED],
    earlier: [{ kind: 'message', message: ASKED }],
    messages: { A: podEvent('drain', 'Deleted'), B: wakeUpOfNode('drain', 'n1') },
    changes: [
      removed('pod web deleted', podRef('web'), 'A'),
      patched('the policy turns to Observe', policyRef('all'), { spec: { mode: 'Observe' } }, 'B'),
    ],
  },
  {
    ...BASE,
    name: 'the drained node is opened by a person when the fault is over',
    objects: [PROD, CONFIG, node('n1')],
    earlier: [{ kind: 'message', message: ASKED }],
    messages: { A: nodeEvent(), B: RECOVERED },
    changes: [patched('node n1 uncordoned', nodeRef('n1'), { spec: { unschedulable: null } }, 'A')],
  },
  {
    ...BASE,
    name: 'the PodDisruptionBudget of a pod opens',
    isLong: true,
    objects: [PROD, CONFIG, node('n1'), POD, BUDGET],
    messages: { A: ASKED, B: wakeUpOfNode('drain', 'n1') },
    changes: [
      patched('PodDisruptionBudget web opens', budgetRef, { status: { disruptionsAllowed: 1 } }, budgetEvent('drain')),
    ],
  },
  {
    ...BASE,
    name: 'the node goes while it is drained',
    objects: [PROD, CONFIG, node('n1'), PROTECTED],
    messages: { A: ASKED, B: nodeEvent('Deleted') },
    changes: [
      removed('pod web deleted', podRef('web'), podEvent('drain', 'Deleted')),
      removed('node n1 deleted', nodeRef('n1'), 'B'),
    ],
  },
];
