/** What an Event says was done, and what was. */
import { expect, it } from 'vitest';
import { checkActsSaid } from '../../../simulator/invariants/acts-said.ts';
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
const EVENTS = { type: { resource: 'events' } };

interface Said {
  readonly reason: string;
  readonly message: string;
  readonly about: readonly [kind: string, uid: string];
}

/** What is complained about an Event after these writes and calls. */
function complaint({ reason, message, about: [kind, uid] }: Said, acts: readonly (Write | PortCall)[]): string {
  const said: string[] = [];
  const mirror = { all: () => new Map([[NODE.metadata.uid, NODE]]) };
  const violate = (name: string, text: string): void => void said.push(`${name}: ${text}`);
  const check = checkActsSaid({ mirror, violate } as unknown as CheckContext);
  for (const act of acts) {
    if ('verb' in act) check.onWrite?.(act, 'drain');
    else check.onCall?.(act, RUN);
  }
  check.onCall?.(called('kubernetes', 'create', EVENTS.type, { reason, message, involvedObject: { kind, uid } }), RUN);
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

it.each<readonly [what: string, said: Said, acts: readonly (Write | PortCall)[], complaint: RegExp]>([
  ['an eviction that was not made', OF_POD('Evicted'), [wrote('delete', 'pods', POD)], /evict uid-web-0/],
  ['a deletion that was not made', OF_POD('Disrupted'), [wrote('evict', 'pods', POD)], /delete uid-web-0/],
  ['two evictions of which one was made', TWO, [wrote('evict', 'pods', POD)], /evict prod\/web-1/],
  ['a termination that was not made', STARTED, [wrote('delete', 'nodes', CLAIM)], /delete claim-1/],
  ['an instance that still runs', IN_GROUP, [called('instances', 'describe', 'aws:///a/i-1')], /terminate aws/],
])('is untrue: %s', (_, said, acts, expected) => {
  expect(complaint(said, acts)).toMatch(/^I9: drain says .* and has not done it/);
  expect(complaint(said, acts)).toMatch(expected);
});

it.each<readonly [what: string, said: Said, acts: readonly (Write | PortCall)[]]>([
  ['an eviction', OF_POD('Evicted'), [wrote('evict', 'pods', POD)]],
  ['a deletion', OF_POD('Disrupted'), [wrote('delete', 'pods', POD)]],
  ['two evictions', TWO, [wrote('evict', 'pods', POD), wrote('evict', 'pods', { ...POD, name: 'web-1' })]],
  ['a termination', STARTED, [wrote('delete', 'nodeclaims', CLAIM)]],
  ['a termination that is forced', STARTED, [forced(CLAIM)]],
  ['an instance that ends', IN_GROUP, [called('instances', 'terminateInAutoScalingGroup', 'aws:///a/i-1')]],
  ['what says of no act', OF_NODE('NodeRepairStarted', 'Reboot has begun, and has time until 15:10'), []],
  ['what only would be done', OF_NODE('NodeRepairObserved', 'NodeClaim claim-1 would be terminated'), []],
])('is true: %s', (_, said, acts) => {
  expect(complaint(said, acts)).toBe('');
});
