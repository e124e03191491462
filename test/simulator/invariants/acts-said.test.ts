/** What an Event says was done, and what was. */
import { expect, it } from 'vitest';
import { checkActsSaid } from '../../../simulator/invariants/acts-said.ts';
import type { JsonObject, KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import type { CheckContext, PortCall, Run } from '../../../simulator/invariants/invariant.ts';

const POD = { namespace: 'prod', name: 'web-0', uid: 'uid-web-0' };
const CLAIM = { name: 'claim-1', uid: 'uid-claim-1' };
const NODE = { metadata: { name: 'n1', uid: 'uid-n1' }, spec: { providerID: 'aws:///a/i-1' } };
const RUN = { by: 'drain' } as unknown as Run;

type Write = Parameters<NonNullable<ReturnType<typeof checkActsSaid>['onWrite']>>[0];
const wrote = (verb: string, resource: string, metadata: object): Write =>
  ({ verb, resource: { resource }, before: { metadata } }) as unknown as Write;
const forced = (claim: object): Write => {
  const metadata = { ...claim, deletionTimestamp: '2024-11-01T15:00:00Z' };
  const annotations = { 'karpenter.sh/nodeclaim-termination-timestamp': '2024-11-01T15:00:00Z' };
  return {
    ...wrote('patch', 'nodeclaims', metadata),
    after: { metadata: { ...metadata, annotations } },
  } as unknown as Write;
};
const called = (port: string, method: string, ...args: readonly unknown[]): PortCall =>
  ({ port, method, args }) as unknown as PortCall;
const NOW = 1_730_473_200_000;
const EVENTS = { type: { resource: 'events' } };

interface Said {
  readonly reason: string;
  readonly message: string;
  readonly about: readonly [kind: string, uid: string];
  /** Of an audit line. */
  readonly decision?: string;
  readonly details?: JsonObject;
}

/** A write, a call, or a Node as it is from now on. */
type Act = Write | PortCall | KubernetesObject;
const isWrite = (act: Act): act is Write => 'verb' in act;
const isCall = (act: Act): act is PortCall => 'port' in act;

/** What is complained about an Event, or an audit line where it has a decision, after these writes and calls. */
function complaint({ reason, message, about: [kind, uid], decision, details }: Said, acts: readonly Act[]): string {
  const said: string[] = [];
  let tell = (_resource: string, _uid: string, _object: object | undefined): void => undefined;
  const mirror = {
    all: (resource: string) => new Map(resource === 'nodes' ? [[NODE.metadata.uid, NODE]] : []),
    follow: (listener: typeof tell) => void (tell = listener),
  };
  const violate = (name: string, text: string): void => void said.push(`${name}: ${text}`);
  const current = (object: KubernetesObject): KubernetesObject | undefined => object;
  const check = checkActsSaid({ mirror, violate, current, now: () => NOW } as unknown as CheckContext);
  for (const act of acts) {
    if (isWrite(act)) check.onWrite?.(act, 'grace-period');
    else if (isCall(act)) check.onCall?.(act, RUN);
    else tell('nodes', act.metadata.uid, act);
  }
  if (decision === undefined) {
    const event = { reason, message, involvedObject: { kind, uid } };
    check.onCall?.(called('kubernetes', 'create', EVENTS.type, event), RUN);
  } else {
    check.onAudit?.({
      function: 'drain',
      decision,
      reason,
      message,
      kind,
      name: 'x',
      uid,
      ...(details && { details }),
    });
  }
  return said.join();
}

const OF_POD = (reason: string): Said => ({ reason, message: 'gone', about: ['Pod', POD.uid] });
const OF_NODE = (reason: string, message: string): Said => ({ reason, message, about: ['Node', NODE.metadata.uid] });
const TWO = OF_NODE('Evicted', 'evicted 2 pods: prod/web-0, prod/web-1');
const STARTED = OF_NODE('NodeRepairStarted', 'NodeClaim claim-1 is terminated forcefully: GpuFault=True');
const IN_GROUP = OF_NODE(
  'NodeRepairStarted',
  'the instance is terminated in its Auto Scaling group, which replaces it',
);

const OF_LINE = (decision: string, reason: string, message: string, details?: JsonObject): Said => ({
  ...OF_NODE(reason, message),
  decision,
  ...(details && { details }),
});
const patched = (before: object, after: object, resource = 'nodes'): Write => {
  const { metadata } = NODE;
  const object = (part: object): object => ({ metadata: { ...metadata, ...part } });
  return { verb: 'patch', resource: { resource }, before: object(before), after: object(after) } as unknown as Write;
};
const created = (resource: string, metadata: object): Write =>
  ({ verb: 'create', resource: { resource }, after: { metadata } }) as unknown as Write;
const nodeWith = (annotations: object, spec: object): KubernetesObject =>
  ({ ...NODE, metadata: { ...NODE.metadata, annotations }, spec }) as unknown as KubernetesObject;

const HELD = { annotations: { 'karpenter.sh/do-not-disrupt': 'true', 'curfew.dev/protected-until': 'forever' } };
const CUSTOM = { name: 'drain-n1-e1', uid: 'uid-custom', annotations: { 'curfew.dev/drain': 'e1' } };
const ASKED = { name: 'n1', uid: 'uid-help', annotations: { 'curfew.dev/repair': 'uid-n1.1' } };
const WITH_OURS = { finalizers: ['curfew.dev/termination'] };
const WAITS = OF_NODE('DrainWaits', 'the node is cordoned and waits for its turn');
const OPENED = OF_LINE('release', 'DrainCancelled', 'the fault is over: nothing keeps the node any more');
const REBOOTS = OF_NODE('NodeRepairStarted', 'Reboot has begun, and has time until 15:10');
const DRAINS = OF_NODE('NodeRepairStarted', 'Drain has begun, and has time until 15:10');
const ASKS = OF_NODE('NodeRepairStarted', 'CustomResource has begun, and has time until 15:10');
const LAUNCHES = OF_NODE('NodeRepairStarted', 'a replacement, NodeClaim new-1, is launched, and has time until 15:10');
const LETS_GO = OF_LINE('release', 'GracePeriodElapsed', 'released: the last grace period on the node has ended');
const HOLDS = OF_LINE('hold', 'PodsProtected', 'pods on the node are protected: Curfew holds it');
const IS_ON = OF_LINE('prepare', 'FinalizerAdded', 'the finalizer curfew.dev/termination is on');
const IS_OFF = OF_LINE('release', 'TerminationFinished', 'everything is done: curfew.dev/termination is off');
const MADE = OF_LINE('createResource', 'CustomDrainRequested', 'Drain x/drain-n1-e1 asks for the drain', {
  uid: CUSTOM.uid,
});
const UNMADE = OF_LINE('fallBack', 'CustomDrainFellBack', 'pods are no longer left to it', { id: 'e1' });
const REQUEST = { detailType: 'DrainRequested', detail: { node: { uid: 'uid-n1' } } };

it.each<readonly [what: string, said: Said, acts: readonly Act[], complaint: RegExp]>([
  ['a cordon of a node that is open', WAITS, [nodeWith({}, {})], /cordon uid-n1/],
  [
    'a cordon that is still marked',
    OPENED,
    [nodeWith({ 'curfew.dev/cordoned-by-drain': 'e1' }, { unschedulable: true })],
    /take back the cordon of uid-n1/,
  ],
  ['a reboot of another machine', REBOOTS, [called('instances', 'reboot', 'aws:///a/i-2')], /node reboot uid-n1/],
  ['a drain that nobody was asked for', DRAINS, [], /ask for a drain of uid-n1/],
  ['help that nobody was asked for', ASKS, [created('rebootrequests', CUSTOM)], /ask for help with uid-n1/],
  ['a replacement that was not made', LAUNCHES, [created('nodeclaims', CLAIM)], /create new-1/],
  ['a release without a write', LETS_GO, [patched({}, HELD)], /let go uid-n1/],
  ['a hold that was let go since', HOLDS, [patched(HELD, {})], /hold uid-n1/],
  ['a finalizer that is not on', IS_ON, [], /have on curfew.dev\/termination uid-n1/],
  ['a finalizer that is not off', IS_OFF, [patched({}, WITH_OURS)], /take off curfew.dev\/termination uid-n1/],
  ['a custom resource that was not made', MADE, [], /create uid-custom/],
  ['a custom resource that is there', UNMADE, [created('drainrequests', CUSTOM)], /delete what asks for drain e1/],
  ['an eviction that was not made', OF_POD('Evicted'), [wrote('delete', 'pods', POD)], /evict uid-web-0/],
  ['a deletion that was not made', OF_POD('Disrupted'), [wrote('evict', 'pods', POD)], /delete uid-web-0/],
  ['two evictions of which one was made', TWO, [wrote('evict', 'pods', POD)], /evict prod\/web-1/],
  ['a termination that was not made', STARTED, [wrote('delete', 'nodes', CLAIM)], /delete claim-1/],
  ['an instance that still runs', IN_GROUP, [called('instances', 'describe', 'aws:///a/i-1')], /node terminate uid-n1/],
])('is untrue: %s', (_, said, acts, expected) => {
  expect(complaint(said, acts)).toMatch(/^I9: drain says .* and has not done it/);
  expect(complaint(said, acts)).toMatch(expected);
});

it.each<readonly [what: string, said: Said, acts: readonly Act[]]>([
  ['an eviction', OF_POD('Evicted'), [wrote('evict', 'pods', POD)]],
  ['a deletion', OF_POD('Disrupted'), [wrote('delete', 'pods', POD)]],
  ['two evictions', TWO, [wrote('evict', 'pods', POD), wrote('evict', 'pods', { ...POD, name: 'web-1' })]],
  ['a termination', STARTED, [wrote('delete', 'nodeclaims', CLAIM)]],
  ['a termination that is forced', STARTED, [forced(CLAIM)]],
  ['an instance that ends', IN_GROUP, [called('instances', 'terminateInAutoScalingGroup', 'aws:///a/i-1')]],
  ['a cordon', WAITS, [nodeWith({}, { unschedulable: true })]],
  ['a cordon that somebody takes away in between', WAITS, [nodeWith({}, { unschedulable: true }), nodeWith({}, {})]],
  ['a cordon that is taken back', OPENED, [nodeWith({}, {})]],
  ['a reboot', REBOOTS, [called('instances', 'reboot', NODE.spec.providerID)]],
  ['a drain that is asked for', DRAINS, [called('bus', 'publish', [REQUEST])]],
  ['help that is asked for', ASKS, [created('rebootrequests', ASKED)]],
  ['a replacement', LAUNCHES, [created('nodeclaims', { ...CLAIM, name: 'new-1' })]],
  ['a release', LETS_GO, [patched({}, HELD), patched(HELD, {})]],
  ['a hold', HOLDS, [patched({}, HELD)]],
  ['a finalizer that is on', IS_ON, [patched({}, WITH_OURS)]],
  ['a finalizer that was on before', IS_ON, [patched(WITH_OURS, WITH_OURS)]],
  ['a finalizer that is off', IS_OFF, [patched({}, WITH_OURS), patched(WITH_OURS, {})]],
  ['a custom resource', MADE, [created('drainrequests', CUSTOM)]],
  ['a custom resource that goes', UNMADE, [created('drainrequests', CUSTOM), wrote('delete', 'drainrequests', CUSTOM)]],
  ['what says of no act', OF_NODE('NodeRepairStarted', 'attempt 2 counts as carried out: Reboot has begun'), []],
  ['what only would be done', OF_NODE('NodeRepairObserved', 'NodeClaim claim-1 would be terminated'), []],
])('is true: %s', (_, said, acts) => {
  expect(complaint(said, acts)).toBe('');
});
