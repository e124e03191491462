/** What the reader of the audit log complains about, each by one wrong line. */
import { describe, expect, it } from 'vitest';
import { toEpochMs, toTimestamp } from '../../../shared/domain/time.ts';
import type { AuditedRequest } from '../end-to-end/audit-log.ts';
import { checkAuditLog } from './invariants.ts';
import * as objects from './objects.ts';
import type { Machine } from './story.ts';

const GENERAL: Machine = { name: 'general-1', pool: 'general', providerID: 'aws:///us-west-2a/i-1' };
const EDGE: Machine = { name: 'edge-1', pool: 'edge', providerID: 'aws:///us-west-2a/i-2' };
const at = (second: number) => toEpochMs(Date.parse('2026-01-01T10:00:00Z') + second * 1000);
type Json = Readonly<Record<string, unknown>>;

let version = 0;
const nextVersion = (): string => String((version += 1));
const stored = (object: Json, changes: Json = {}, more: Json = {}): Json => {
  const metadata = object['metadata'] as { readonly name: string };
  const uid = `uid-${String(object['kind'])}-${metadata.name}`;
  const creationTimestamp = toTimestamp(at(0));
  return {
    ...object,
    ...more,
    metadata: { uid, resourceVersion: nextVersion(), creationTimestamp, ...metadata, ...changes },
  };
};

const write = (
  second: number,
  user: string,
  verb: string,
  resource: string,
  responseObject: Json,
  changes: Partial<AuditedRequest> = {},
): AuditedRequest => {
  const { name, namespace } = responseObject['metadata'] as { readonly name: string; readonly namespace?: string };
  return {
    time: at(second),
    received: at(second),
    user,
    verb,
    group: '',
    resource,
    subresource: undefined,
    namespace,
    name,
    code: 200,
    allowed: true,
    requestObject: responseObject,
    responseObject,
    ...changes,
  };
};
const note = (second: number, name: string, data: Json = {}): AuditedRequest =>
  write(second, 'chaos', 'create', 'configmaps', {
    kind: 'ConfigMap',
    metadata: { namespace: objects.NOTES, name },
    data,
  });
const ended = (second: number, { providerID }: Machine): AuditedRequest =>
  note(second, `ended-${providerID}`, { providerID, runningUntil: toTimestamp(at(second)) });

const claimOf = (machine: Machine, changes: Json = {}): Json =>
  stored(objects.nodeClaim(machine), changes, { status: objects.nodeClaimStatus(machine) });
const nodeOf = (machine: Machine, changes: Json = {}, spec: Json = {}, ill?: number): Json =>
  stored(objects.node(machine), changes, {
    spec: { providerID: machine.providerID, ...spec },
    status: objects.nodeStatus(ill === undefined, at(ill ?? 0)),
  });
const podOn = ({ name }: Machine, doNotDisrupt?: string): Json =>
  stored(objects.pod({ name: 'web', node: name, doNotDisrupt }), {}, { status: objects.podStatus(at(0)) });
const evict = (second: number, user: string): AuditedRequest =>
  write(
    second,
    user,
    'create',
    'pods',
    { kind: 'Eviction', metadata: { namespace: objects.WORKLOADS, name: 'web' } },
    {
      subresource: 'eviction',
      responseObject: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' },
      code: 201,
    },
  );
const remove = (second: number, user: string, resource: string, object: Json): AuditedRequest =>
  write(second, user, 'delete', resource, {
    ...object,
    ...stored(object, { deletionTimestamp: toTimestamp(at(second)) }),
  });

const HELD = { finalizers: [objects.FINALIZER] };
const begin = (): readonly AuditedRequest[] => [
  ...(['general', 'edge'] as const).flatMap(pool => [
    write(0, 'chaos', 'create', 'nodepools', stored(objects.nodePool(pool))),
    write(0, 'chaos', 'create', 'nodelifecyclepolicies', stored(objects.policy(pool))),
  ]),
  write(0, 'chaos', 'create', 'nodeclaims', claimOf(GENERAL)),
  write(0, 'chaos', 'create', 'nodes', nodeOf(GENERAL)),
  write(0, 'curfew-finalizer', 'patch', 'nodeclaims', claimOf(EDGE, HELD)),
  write(0, 'curfew-finalizer', 'patch', 'nodes', nodeOf(EDGE, HELD)),
];
const end = (...standing: readonly AuditedRequest[]): readonly AuditedRequest[] => [
  note(90, 'done'),
  note(91, 'roll-call'),
  ...standing,
];
const stands = (resource: string, object: Json): AuditedRequest => write(92, 'chaos', 'patch', resource, object);
/** Of the pool whose nodes are ours to end. */
const edgeStands = (): readonly AuditedRequest[] => [
  stands('nodeclaims', claimOf(EDGE, HELD)),
  stands('nodes', nodeOf(EDGE, HELD)),
];
const generalStands = (): readonly AuditedRequest[] => [
  stands('nodeclaims', claimOf(GENERAL)),
  stands('nodes', nodeOf(GENERAL)),
];
const allStand = (): readonly AuditedRequest[] => end(...edgeStands(), ...generalStands());
const ill = (since: number): AuditedRequest =>
  write(since, 'chaos', 'patch', 'nodes', nodeOf(GENERAL, {}, {}, since), { subresource: 'status' });
const asked = { annotations: { 'curfew.dev/drain-requested': 'd1' } };

const check = (...requests: readonly AuditedRequest[]): readonly string[] =>
  checkAuditLog(requests, user => (user.startsWith('curfew-') ? user.slice('curfew-'.length) : undefined));

describe('what the audit log says', () => {
  const deletedEdge = (): AuditedRequest => remove(5, 'chaos', 'nodeclaims', claimOf(EDGE, HELD));
  const releasedEdge = (second: number): AuditedRequest =>
    write(second, 'curfew-finalizer', 'patch', 'nodeclaims', claimOf(EDGE, { deletionTimestamp: toTimestamp(at(5)) }));

  const fine: readonly (readonly [string, () => readonly AuditedRequest[]])[] = [
    ['nothing happens', allStand],
    [
      'a node is repaired when that is due',
      () => [
        ill(10),
        remove(20, 'curfew-repair', 'nodeclaims', claimOf(GENERAL)),
        ended(25, GENERAL),
        ...end(...edgeStands()),
      ],
    ],
    [
      'a node is released when its instance has ended',
      () => [deletedEdge(), releasedEdge(40), ended(39, EDGE), ...end(...generalStands())],
    ],
    [
      'a drain that somebody asks for waits for protection',
      () => [
        write(1, 'chaos', 'create', 'pods', podOn(GENERAL, '30s')),
        write(2, 'chaos', 'patch', 'nodes', nodeOf(GENERAL, asked)),
        write(3, 'curfew-drain', 'patch', 'nodes', nodeOf(GENERAL, asked, { unschedulable: true })),
        evict(30, 'curfew-drain'),
        write(31, 'curfew-drain', 'patch', 'nodes', nodeOf(GENERAL)),
        ...allStand(),
      ],
    ],
    [
      'a node is repaired whose status stays while its time moves, also over a restored etcd',
      () => {
        const known = version;
        return [
          ill(10),
          note(16, 'restored-1', { time: toTimestamp(at(15)), revision: String(known) }),
          ill(17),
          remove(20, 'curfew-repair', 'nodeclaims', claimOf(GENERAL)),
          ended(25, GENERAL),
          ...end(...edgeStands()),
        ];
      },
    ],
    [
      'a deletion is asked for again that etcd has forgotten',
      () => {
        const known = version;
        return [
          ill(10),
          remove(20, 'curfew-repair', 'nodeclaims', claimOf(GENERAL)),
          note(30, 'restored-1', { time: toTimestamp(at(25)), revision: String(known + 1) }),
          remove(40, 'curfew-repair', 'nodeclaims', claimOf(GENERAL)),
          ended(45, GENERAL),
          ...end(...edgeStands()),
        ];
      },
    ],
  ];
  it.each(fine)('is fine where %s', (_, story) => {
    expect(check(...begin(), ...story())).toEqual([]);
  });

  const wrong: readonly (readonly [string, RegExp, () => readonly AuditedRequest[]])[] = [
    [
      'a finalizer goes while the instance runs',
      /I1: takes example.com\/custom off/,
      () => [deletedEdge(), releasedEdge(6), ...allStand()],
    ],
    [
      'a finalizer goes a moment before the instance has ended',
      /I1: takes example.com\/custom off/,
      () => [deletedEdge(), releasedEdge(38), ended(39, EDGE), ...end(...generalStands())],
    ],
    [
      "Karpenter's finalizer goes",
      /I1: takes Karpenter's/,
      () => [write(5, 'curfew-finalizer', 'patch', 'nodeclaims', claimOf(GENERAL, { finalizers: [] })), ...allStand()],
    ],
    ['a NodeClaim is gone and its instance runs', /I1: the NodeClaim of .* is gone/, () => end(...generalStands())],
    [
      'a protected pod is evicted',
      /I2: the pod is protected/,
      () => [
        write(1, 'chaos', 'create', 'pods', podOn(GENERAL, '30s')),
        write(2, 'chaos', 'patch', 'nodes', nodeOf(GENERAL, asked)),
        evict(29, 'curfew-drain'),
        ...allStand(),
      ],
    ],
    [
      'a pod that is protected for ever is deleted',
      /I2: the pod is protected/,
      () => [
        write(1, 'chaos', 'create', 'pods', podOn(EDGE, 'true')),
        deletedEdge(),
        remove(60, 'curfew-finalizer', 'pods', podOn(EDGE, 'true')),
        ...allStand(),
      ],
    ],
    [
      'a repair comes too early',
      /I3: the illness is tolerated/,
      () => [
        ill(10),
        remove(19, 'curfew-repair', 'nodeclaims', claimOf(GENERAL)),
        ended(25, GENERAL),
        ...end(...edgeStands()),
      ],
    ],
    [
      'a healthy node is repaired',
      /I3: the Node is well/,
      () => [remove(19, 'curfew-repair', 'nodeclaims', claimOf(GENERAL)), ended(25, GENERAL), ...end(...edgeStands())],
    ],
    [
      'a NodeClaim is deleted twice',
      /I4: it was asked to go before/,
      () => [
        ill(10),
        remove(20, 'curfew-repair', 'nodeclaims', claimOf(GENERAL)),
        remove(21, 'curfew-repair', 'nodeclaims', claimOf(GENERAL)),
        ended(25, GENERAL),
        ...end(...edgeStands()),
      ],
    ],
    [
      'a node is cordoned that nobody wants drained',
      /nobody asks for a drain/,
      () => [write(3, 'curfew-drain', 'patch', 'nodes', nodeOf(GENERAL, {}, { unschedulable: true })), ...allStand()],
    ],
    [
      'a node is emptied long after its drain was called off',
      /nobody asks for a drain/,
      () => [
        write(1, 'chaos', 'create', 'pods', podOn(GENERAL)),
        write(2, 'chaos', 'patch', 'nodes', nodeOf(GENERAL, asked)),
        write(4, 'chaos', 'patch', 'nodes', nodeOf(GENERAL)),
        evict(20, 'curfew-drain'),
        ...allStand(),
      ],
    ],
    [
      'a node is emptied that nobody deletes',
      /neither Node nor NodeClaim is being deleted/,
      () => [write(1, 'chaos', 'create', 'pods', podOn(EDGE)), evict(20, 'curfew-finalizer'), ...allStand()],
    ],
    [
      'repair touches pods',
      /this part touches no pods/,
      () => [write(1, 'chaos', 'create', 'pods', podOn(GENERAL)), evict(20, 'curfew-repair'), ...allStand()],
    ],
    [
      'something is done when all is done',
      /all is done/,
      () => [...allStand(), write(95, 'curfew-drain', 'patch', 'nodes', nodeOf(GENERAL))],
    ],
    [
      'a NodeClaim is still held',
      /I5: is still held by example.com\/custom/,
      () => [
        deletedEdge(),
        ...end(
          stands('nodeclaims', claimOf(EDGE, { ...HELD, deletionTimestamp: toTimestamp(at(5)) })),
          ...generalStands(),
        ),
      ],
    ],
    [
      'a drain has no answer',
      /I5: its drain has no answer/,
      () => end(...edgeStands(), stands('nodeclaims', claimOf(GENERAL)), stands('nodes', nodeOf(GENERAL, asked))),
    ],
    [
      'a cordon is left',
      /I7: is still cordoned/,
      () =>
        end(
          ...edgeStands(),
          stands('nodeclaims', claimOf(GENERAL)),
          stands('nodes', nodeOf(GENERAL, {}, { unschedulable: true })),
        ),
    ],
    [
      'a mark of protection is left',
      /I7: is still marked as protected/,
      () => {
        const annotations = { 'curfew.dev/protected-until': toTimestamp(at(30)) };
        return end(
          ...edgeStands(),
          stands('nodeclaims', claimOf(GENERAL)),
          stands('nodes', nodeOf(GENERAL, { annotations })),
        );
      },
    ],
    [
      'an ill node is left',
      /I5: is ill and was not repaired/,
      () => end(...edgeStands(), stands('nodeclaims', claimOf(GENERAL)), stands('nodes', nodeOf(GENERAL, {}, {}, 10))),
    ],
    ['nobody called the roll', /there was no roll call/, () => []],
  ];
  it.each(wrong)('is wrong where %s', (_, complaint, story) => {
    expect(check(...begin(), ...story())).toEqual([expect.stringMatching(complaint)]);
  });
});
