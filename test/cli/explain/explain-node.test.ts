import { describe, expect, it } from 'vitest';
import type { DisruptionBudget } from '../../../cli/pod-disruption-budget.ts';
import type { PodView } from '../../../shared/domain/pod.ts';
import { hours } from '../../../shared/domain/time.ts';
import { explainNode, type NodeExplanation } from '../../../cli/explain/explain-node.ts';
import type { NodeObservation } from '../../../cli/explain/observation.ts';
import { renderNode, renderPod } from '../../../cli/explain/render.ts';
import { aPod, aPolicy } from '../../builders/pods.ts';
import { aNode, aNodeClaim, at } from '../../builders/repair.ts';

const NOW = at('2024-01-01T12:00:00Z');

function observation(pods: readonly PodView[], overrides: Partial<NodeObservation> = {}): NodeObservation {
  return {
    node: aNode([]),
    nodePool: 'default',
    pods,
    protection: { policy: aPolicy(), source: undefined, observed: undefined },
    budgets: [],
    nodeClaims: [],
    ...overrides,
  };
}
const explain = (pods: readonly PodView[], overrides?: Partial<NodeObservation>): NodeExplanation =>
  explainNode(observation(pods, overrides), NOW);
/** The text about the first pod. */
function podText(pods: readonly PodView[], overrides?: Partial<NodeObservation>): readonly string[] {
  const node = explain(pods, overrides);
  const [pod] = node.pods;
  if (pod === undefined) throw new Error('there is nothing to be said about the pod');
  return renderPod(pod, node).split('\n');
}
const annotated = (annotations: Record<string, string>): Partial<NodeObservation> => ({
  node: aNode([], { annotations }),
});
const budget = (overrides: Partial<DisruptionBudget> = {}): DisruptionBudget => ({
  name: 'web',
  namespace: 'prod',
  selector: {},
  disruptionsAllowed: 0,
  evictsUnready: false,
  ...overrides,
});

describe('the verdict on a node', () => {
  it.each([
    ['open without annotated pods', [aPod(undefined)], {}, { kind: 'open' }],
    [
      'protected until the last end',
      [aPod('3h'), aPod('4h')],
      {},
      { kind: 'protectedUntil', until: at('2024-01-01T14:00:00Z') },
    ],
    ['protected without end', [aPod('4h'), aPod('true')], {}, { kind: 'protectedWithoutEnd' }],
    ['open after the last end', [aPod('1h')], {}, { kind: 'open' }],
    ['blocked by a budget', [aPod('1h')], { budgets: [budget()] }, { kind: 'blocked' }],
    ["blocked by somebody's annotation", [], annotated({ 'karpenter.sh/do-not-disrupt': 'true' }), { kind: 'blocked' }],
    [
      'open with an annotation that has no effect',
      [],
      annotated({ 'karpenter.sh/do-not-disrupt': '4h' }),
      { kind: 'open' },
    ],
  ])('is %s', (_name, pods, overrides, verdict) => {
    expect(explain(pods, overrides).verdict).toEqual(verdict);
  });
});

describe('PodDisruptionBudgets', () => {
  const refusal = (pod: PodView, budgets: readonly DisruptionBudget[]): string | undefined =>
    explain([pod], { budgets }).pods[0]?.evictionRefusal;
  const pod = aPod('true', { labels: { app: 'web' } });

  it.each([
    ['that allows none refuses', [budget()], 'PodDisruptionBudget web allows no disruption now'],
    ['that allows one does not', [budget({ disruptionsAllowed: 1 })], undefined],
    ['of another namespace does not count', [budget({ namespace: 'dev' })], undefined],
    ['that selects others does not count', [budget({ selector: { matchLabels: { app: 'db' } } })], undefined],
    ['without a selector selects nothing', [budget({ selector: undefined })], undefined],
    [
      'beside another one refuses every eviction',
      [budget({ disruptionsAllowed: 1 }), budget({ name: 'all', disruptionsAllowed: 1 })],
      'several PodDisruptionBudgets select it (web, all): no eviction is possible',
    ],
  ])('one %s', (_name, budgets, expected) => {
    expect(refusal(pod, budgets)).toBe(expected);
  });

  it('let a pod that is not Ready go when they say so', () => {
    expect(refusal({ ...pod, ready: false }, [budget({ evictsUnready: true })])).toBeUndefined();
    expect(refusal(pod, [budget({ evictsUnready: true })])).toBeDefined();
  });

  it('do not concern pods that have ended or are being deleted', () => {
    expect(refusal({ ...pod, phase: 'Failed' }, [budget()])).toBeUndefined();
    expect(refusal({ ...pod, deletionTime: NOW }, [budget()])).toBeUndefined();
  });
});

describe('the deadline', () => {
  const claim = (overrides: Parameters<typeof aNodeClaim>[0]): Partial<NodeObservation> => ({
    nodeClaims: [aNodeClaim(overrides)],
  });
  const time = (clock: string) => ({ kind: 'at', time: at(`2024-01-01T${clock}:00Z`) });
  /** With an annotation for 13:00, and a deadline in force. */
  const declared = (source: string, inForce = '12:30'): Partial<NodeObservation> => ({
    ...claim({
      deletionTime: NOW,
      annotations: { 'karpenter.sh/nodeclaim-termination-timestamp': '2024-01-01T13:00:00Z' },
    }),
    stored: { deadline: { time: at(`2024-01-01T${inForce}:00Z`), source }, settings: undefined, hooks: [] },
  });
  const gracePeriod = { period: hours(2), source: 'NodeLifecyclePolicy p' };
  const settings = {
    finalizerName: 'a.io/b',
    scope: 'NodeClaimAndNode',
    builtin: 'Keep',
    hooks: [],
    gracePeriod,
  } as const;
  /** Under a policy in mode Observe that gives two hours. */
  const observed = (finalizers: string[], overrides: Partial<NodeObservation> = {}): Partial<NodeObservation> => ({
    ...claim({ deletionTime: NOW, finalizers, terminationGracePeriod: hours(3) }),
    termination: { kind: 'custom', settings, source: 'NodeLifecyclePolicy p', mode: 'Observe', isBraked: false },
    ...overrides,
  });
  const ofPolicy = claim({ deletionTime: NOW, finalizers: ['a.io/b'] });
  const reached = { time: at('2024-01-01T13:30:00Z'), source: 'hook drop' };
  const unreadable = {
    kind: 'invalid',
    message: '',
    source: '',
    gracePeriod,
    mode: 'Enforce',
    isBraked: false,
  } as const;
  it.each([
    ['none without a NodeClaim', {}, { kind: 'none', terminating: false }],
    ['none without a grace period', claim({ deletionTime: NOW }), { kind: 'none', terminating: true }],
    ['to come', claim({ terminationGracePeriod: hours(72) }), { kind: 'afterDeletion', gracePeriod: hours(72) }],
    [
      'counted from the deletion',
      claim({ terminationGracePeriod: hours(72), deletionTime: NOW }),
      { kind: 'at', time: at('2024-01-04T12:00:00Z') },
    ],
    [
      'that of the annotation before anything else',
      claim({
        terminationGracePeriod: hours(72),
        deletionTime: NOW,
        annotations: { 'karpenter.sh/nodeclaim-termination-timestamp': '2024-01-01T13:00:00Z' },
      }),
      { kind: 'at', time: at('2024-01-01T13:00:00Z') },
    ],
    ['the one in force where the annotation asks for later', declared('hook drop'), time('12:30')],
    ['that of an annotation that was moved', declared('annotation'), time('13:00')],
    ['that of an annotation that asks for sooner', declared('hook drop', '14:00'), time('13:00')],
    ['that of mode Enforce in mode Observe', observed(['a.io/b'], ofPolicy), { ...time('14:00'), kind: 'observed' }],
    [
      'in mode Observe the one that it had before',
      observed(['a.io/b'], { ...ofPolicy, stored: { deadline: reached, settings: undefined, hooks: [] } }),
      { ...time('13:30'), kind: 'observed' },
    ],
    [
      'in mode Observe none that was taken back',
      observed(['a.io/b'], {
        stored: { deadline: reached, settings: undefined, hooks: [] },
        isDeadlineTakenBack: true,
      }),
      { ...time('15:00'), kind: 'observed' },
    ],
    ["Karpenter's in mode Observe without our finalizer", observed(['karpenter.sh/termination']), time('15:00')],
    [
      "Karpenter's in mode Observe with an earlier one in mode Enforce",
      observed(['karpenter.sh/termination', 'curfew.dev/termination'], {
        stored: { deadline: reached, settings: undefined, hooks: [] },
      }),
      { ...time('13:30'), kind: 'observed' },
    ],
    ['none in mode Observe where no finalizer keeps it', observed([]), { kind: 'none', terminating: true }],
    [
      'none to come in mode Observe without Karpenter',
      observed([], claim({ finalizers: [], terminationGracePeriod: hours(3) })),
      { kind: 'none', terminating: false },
    ],
    ["the NodePool's where a policy cannot be read", { ...ofPolicy, termination: unreadable }, time('14:00')],
  ])('is %s', (_name, overrides, deadline) => {
    expect(explain([], overrides).deadline).toEqual(deadline);
  });
});

describe('text', () => {
  it('says of a protected pod by what, until when, what happens then, and what else there is', () => {
    const overrides = {
      budgets: [budget()],
      nodeClaims: [aNodeClaim({ terminationGracePeriod: hours(72) })],
      protection: {
        policy: aPolicy({ maxDuration: hours(4) }),
        source: 'NodeLifecyclePolicy caps',
        observed: { policy: aPolicy({ maxDuration: hours(1) }), source: 'NodeLifecyclePolicy tighter' },
      },
    } as const;
    expect(podText([aPod('8h')], overrides)).toEqual([
      'Pod prod/web-0 on node n1: protected',
      '  karpenter.sh/do-not-disrupt: "8h" protects until 2024-01-01T14:00:00Z (in 2h0m0s), limited to 4h0m0s by NodeLifecyclePolicy caps',
      '  then it may be evicted, as far as PodDisruptionBudgets allow, and an Event DoNotDisruptGracePeriodElapsed says so',
      '  PodDisruptionBudget web allows no disruption now',
      '  deadline: none yet; 72h0m0s after its deletion begins, what is left is removed by force',
      '  protection: NodeLifecyclePolicy caps (compatibility Design, for at most 4h0m0s); NodeLifecyclePolicy tighter is only observed and changes nothing',
    ]);
  });

  it.each([
    ['that is over', aPod('1h'), 'protected until 2024-01-01T11:00:00Z (1h0m0s ago)'],
    ['that is not valid', aPod('4d'), '"4d" is not valid and to be safe protects without end'],
    ['without end', aPod('true'), '"true" protects without end'],
    ['of a pod that has ended', aPod('4h', { phase: 'Succeeded' }), '"4h" has no effect: the pod has ended'],
    ['of a pod being deleted', aPod('4h', { deletionTime: NOW }), '"4h" has no effect: the pod is being deleted'],
  ])('describes an annotation %s', (_name, pod, text) => {
    expect(podText([pod])[1]).toContain(text);
  });

  it('describes what Karpenter makes of it', () => {
    const protection = {
      policy: aPolicy({ compatibility: 'Karpenter' }),
      source: undefined,
      observed: undefined,
    };
    expect(podText([aPod('4d')], { protection })[1]).toContain('has no effect: it is neither');
    expect(podText([aPod('4h', { startTime: undefined })], { protection })[1]).toContain('its clock does not run yet');
  });

  it('says of a node who holds it, its pods, its deadline and its policy', () => {
    const mark = { 'karpenter.sh/do-not-disrupt': 'true', 'curfew.dev/protected-until': '2024-01-01T14:00:00Z' };
    const pods = [aPod('4h', { name: 'b' }), aPod('1h', { name: 'a' }), aPod(undefined, { name: 'c' })];
    expect(renderNode(explain(pods, annotated(mark))).split('\n')).toEqual([
      'Node n1 (NodePool default): protected until 2024-01-01T14:00:00Z (in 2h0m0s)',
      '  Curfew holds karpenter.sh/do-not-disrupt: "true" on the node, until 2024-01-01T14:00:00Z',
      '  pods that are annotated or cannot be evicted:',
      '    prod/a: karpenter.sh/do-not-disrupt: "1h" protected until 2024-01-01T11:00:00Z (1h0m0s ago)',
      '    prod/b: karpenter.sh/do-not-disrupt: "4h" protects until 2024-01-01T14:00:00Z (in 2h0m0s)',
      '  1 other pod',
      '  deadline: none',
      '  protection: no policy, the defaults hold (compatibility Design)',
    ]);
  });

  it.each([
    ['nothing more to say with a plain "true"', [aPod('true')], 'Curfew holds no do-not-disrupt on the node'],
    [
      'that it should with a duration',
      [aPod('4h')],
      'Curfew holds no do-not-disrupt on the node, although pods are protected: the grace-period function is late or not running',
    ],
  ] as const)('of a node that is not held says %s', (_name, pods, line) => {
    expect(renderNode(explain(pods)).split('\n')[1]).toBe(`  ${line}`);
  });

  it("says of a replacement that its annotation is Curfew's", () => {
    const annotations = { 'karpenter.sh/do-not-disrupt': 'true', 'curfew.dev/replaces': 'uid-1' };
    expect(renderNode(explain([], annotated(annotations)))).toContain(
      'Curfew holds karpenter.sh/do-not-disrupt: "true" on the node, which replaces another one, until that is gone',
    );
  });

  it("says of somebody's annotation what it does", () => {
    const theirs = (value: string): string =>
      renderNode(explain([], annotated({ 'karpenter.sh/do-not-disrupt': value })));
    expect(theirs('true')).toContain("is not Curfew's and stays: Karpenter leaves the node alone");
    expect(theirs('false')).toContain("is not Curfew's and stays: it has no effect");
  });
});
